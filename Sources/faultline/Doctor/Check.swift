/// One thing that was tried, and what came of it.
struct Check: Sendable {
    /// How a thing is.
    enum State: String, Sendable {
        /// It works.
        case ok
        /// It works, and not as well as it could.
        case warning
        /// It is not there.
        case missing
        /// It is there and does not work.
        case failed
    }

    var subject: Subject
    var state: State
    /// What was found, in a few words.
    var found: String
    /// What to do about it, in sentences; empty: nothing.
    var remedy = ""
    /// The command that does it, for a shell; empty: there is none.
    var command = ""

    /// Whether a recording with the command's defaults does not work because of it.
    var isObstacle: Bool { subject.isEssential && (state == .missing || state == .failed) }
}

/// What a check is about.
struct Subject: Sendable {
    /// What it is called, in at most 15 characters.
    var name: String
    /// What depends on it, in a sentence.
    var why: String
    /// Whether a recording with the command's defaults needs it.
    var isEssential = false
    /// The Debian package that holds it; empty: it comes with none of those that Faultline asks for.
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

/// Checks that belong together: tried when asked for, and never printed here.
protocol Examination: Sendable {
    /// What is told if the checks come to no end, because a file system does not answer.
    var silence: Check { get }

    /// Tries everything.
    ///
    /// Leaves nothing behind; what goes wrong is in the checks.
    func checks() -> [Check]
}

/// The checks of a part of Faultline.
struct CheckGroup: Sendable {
    var name: String
    var checks: [Check]
}
