import Foundation

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
    /// The result of the check, in a few words.
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

/// The packages to install, and the command for it.
struct Installation: Sendable {
    /// Debian's package names.
    let packages: [String]
    /// The command that installs them, or `nil` if there are none or the distribution has other names.
    let command: String?

    /// All packages that Faultline needs to build, record and read.
    static let all = [
        "libsqlite3-dev", "liblttng-ust-dev", "lttng-tools", "babeltrace2", "libbabeltrace2-dev", "libsimdjson-dev",
        "libdw-dev", "zlib1g-dev",
    ]

    /// - Parameters:
    ///   - database: The answer to ``question()``, or `nil` if the machine has no such database.
    ///   - checks: The checks, which show what is missing if there is no database.
    init(on machine: Machine, database: ExternalCommand.Answer?, checks: [Check]) {
        if let installed = database.flatMap(Self.installed) {
            packages = Self.all.filter { !installed.contains($0) }
        } else {
            let lacking = Set(checks.filter { $0.state == .missing || $0.state == .failed }.map(\.subject.package))
            packages = Self.all.filter(lacking.contains)
        }
        let names = packages.joined(separator: " ")
        command =
            packages.isEmpty || !machine.isDebian ? nil : (geteuid() == 0 ? "" : "sudo ") + "apt-get install " + names
    }

    /// The command that lists which of the packages are installed.
    static func question() -> ExternalCommand {
        ExternalCommand(["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\\n"] + all)
    }

    /// The installed packages, or `nil` if the answer does not have them.
    private static func installed(_ answer: ExternalCommand.Answer) -> Set<String>? {
        // Exit status 1 means that some packages are unknown.
        guard case .printed(let text, let status) = answer, status <= 1 else { return nil }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        return Set(lines.filter { $0.count == 2 && $0[1] == "installed" }.map { String($0[0]) })
    }
}
