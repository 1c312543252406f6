import FaultlineRecorder

/// Explains why programs were not recorded, and what to do.
extension Recording {
    /// A sentence about each copy of SQLite, in programs that ended, whose calls could not be seen.
    ///
    /// - Complexity: O(bytes of the programs and their libraries).
    func findHiddenCopies() -> [String] {
        modules { !$0.isRecordedByHooks }.compactMap { path in
            ProgramFile(path: path)?.hiddenSQLite.map { Self.hidden($0, in: path) }
        }
    }

    /// A sentence about each copy of SQLite that was recorded by its hooks, which show less than its functions.
    func describeCopiesRecordedByHooks() -> [String] {
        modules(where: \.isRecordedByHooks).map { path in
            "\(path) contains its own copy of SQLite, which was recorded by its trace hook: the times of statements that "
                + "return several rows are estimates, and errors and preparations are not seen."
        }
    }

    private func modules(where isWanted: (LoadedModule) -> Bool) -> [String] {
        Set(outcome.programs.joined().filter(isWanted).map(\.path)).sorted()
    }

    private static func hidden(_ date: Substring, in path: String) -> String {
        "\(path) contains its own copy of SQLite (of \(date)), whose calls cannot be seen from outside; use a build that is "
            + "linked to libsqlite3."
    }

    /// The reason why no process of a command recorded anything.
    ///
    /// - Parameters:
    ///   - program: The command's name.
    ///   - isExplained: Whether a hidden copy of SQLite was already reported.
    func reason(_ program: String, isExplained: Bool) -> String {
        if let missing = destination.libraries.first(where: { $0.path == nil }) {
            return
                "none uses FaultlineStore, and \(missing.name), which records other programs, is not beside the "
                + "command; build it with \"make build\"."
        }
        let nothing = "no process opened a Faultline store or called SQLite in a shared library."
        guard !isExplained, let file = ProgramFile(command: program) else { return nothing }
        if file.isStatic {
            return
                "\(file.path) is linked statically, so no library can be preloaded into it; link it dynamically, or use "
                + "FaultlineStore."
        }
        if file.isPrivileged {
            return
                "\(file.path) runs with another user's rights, so no library is preloaded into it; run it as that user."
        }
        return file.hiddenSQLite.map { Self.hidden($0, in: file.path) } ?? nothing
    }
}
