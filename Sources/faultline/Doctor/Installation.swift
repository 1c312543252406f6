import Foundation

/// What is to be installed, and how.
struct Installation: Sendable {
    /// Debian's names.
    let packages: [String]
    /// The command that installs them; `nil`: there is nothing to install, or the distribution has names of its own.
    let command: String?

    /// Everything that Faultline is built with, records with and reads with.
    static let all = [
        "libsqlite3-dev", "liblttng-ust-dev", "lttng-tools", "babeltrace2", "libbabeltrace2-dev", "libsimdjson-dev",
        "libdw-dev",
    ]

    /// - Parameters:
    ///   - database: What ``question()`` gave; `nil` where there is no such database.
    ///   - checks: Tell what is missing where there is none.
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

    /// Asks which of the packages are installed.
    static func question() -> ExternalCommand {
        ExternalCommand(["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\\n"] + all)
    }

    /// The packages that are installed; `nil` if that was not told.
    private static func installed(_ answer: ExternalCommand.Answer) -> Set<String>? {
        // 1: of some it knows nothing.
        guard case .printed(let text, let status) = answer, status <= 1 else { return nil }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        return Set(lines.filter { $0.count == 2 && $0[1] == "installed" }.map { String($0[0]) })
    }
}
