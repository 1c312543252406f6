extension Subject {
    /// The result for a command, from its answer to `--version`.
    func check(_ answer: ExternalCommand.Answer, minimumVersion: String? = nil) -> Check {
        if let version = answer.version {
            guard let minimumVersion, Self.numbers(version).lexicographicallyPrecedes(Self.numbers(minimumVersion))
            else {
                return ok(version)
            }
            return warning("\(version), and \(minimumVersion) is needed", "Install a newer \(package).")
        }
        let anew = "Reinstall \(package)."
        switch answer {
        case .missing:
            return missing("not in PATH", "Install \(package); if it is installed, add its directory to PATH.")
        case .unusable(let reason): return failed("does not run (\(reason))", anew)
        case .silent: return failed("\"\(name) --version\" does not end", anew)
        case .printed(_, status: 0): return failed("\"\(name) --version\" reports no version", anew)
        case .printed(_, let status): return failed("does not run (exit status \(status))", anew)
        }
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").compactMap { Int($0) }
    }
}
