import Foundation

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
