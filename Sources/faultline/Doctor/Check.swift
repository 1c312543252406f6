/// The result of one check.
struct Check: Sendable {
    /// The state of the subject.
    enum State: String, Sendable, CaseIterable {
        /// It works.
        case ok
        /// It works, but not as well as it could.
        case warning
        /// It does not exist.
        case missing
        /// It exists but does not work.
        case failed
    }

    var subject: Subject
    var state: State
    /// What the check found, in a few words.
    var found: String
    /// Sentences about what to do, or empty if nothing.
    var remedy = ""
    /// The shell command to run, or empty if there is none.
    var command = ""

    /// Whether it prevents a recording with the command's defaults.
    var isObstacle: Bool { subject.isEssential && (state == .missing || state == .failed) }
}

/// The subject of a check.
struct Subject: Sendable {
    /// The name, in at most 15 characters.
    var name: String
    /// A sentence about what depends on it.
    var why: String
    /// Whether a recording with the command's defaults needs it.
    var isEssential = false
    /// The Debian package that contains it, or empty if none of Faultline's packages does.
    var package = ""

    func ok(_ found: String) -> Check {
        Check(subject: self, state: .ok, found: found)
    }

    func warning(_ found: String, _ remedy: String, command: String = "") -> Check {
        Check(subject: self, state: .warning, found: found, remedy: remedy, command: command)
    }

    func missing(_ found: String, _ remedy: String = "", command: String = "") -> Check {
        Check(subject: self, state: .missing, found: found, remedy: remedy, command: command)
    }

    func failed(_ found: String, _ remedy: String) -> Check {
        Check(subject: self, state: .failed, found: found, remedy: remedy)
    }
}

/// A set of related checks, which run on request and print nothing.
protocol Examination: Sendable {
    /// The result to report if the checks do not finish, because a file system does not answer.
    var silence: Check { get }

    /// Runs all checks.
    ///
    /// It leaves nothing behind, and reports errors as results.
    func checks() -> [Check]
}

/// The results for a part of Faultline.
struct CheckGroup: Sendable {
    var name: String
    var checks: [Check]
}
