/// An error in importing a music database into a music library.
package struct ChinookError: Error, Sendable, CustomStringConvertible {
    /// The failure, its subject, its cause and its remedy.
    package let message: String

    package var description: String { message }

    private init(_ message: String) {
        self.message = message
    }

    static func unreadable(_ path: String, _ reason: String) -> ChinookError {
        ChinookError("The music database \"\(path)\" cannot be read: \(reason)")
    }

    static func incomplete(_ path: String, tables: [String], columns: [String]) -> ChinookError {
        let missing = [list("table", tables), list("column", columns)].compactMap { $0 }.joined(separator: ", and ")
        return unreadable(path, "it lacks \(missing); name a file that has Chinook's tables.")
    }

    static func damaged(_ path: String, _ row: String) -> ChinookError {
        unreadable(path, "\(row); get the file again.")
    }

    static func isStore(_ path: String) -> ChinookError {
        ChinookError(
            "The music database \"\(path)\" cannot be imported into a store at the same path, which would replace it; name another file for the store."
        )
    }

    /// Returns `the tables Album, Genre and Track`, or `nil` for an empty list.
    private static func list(_ word: String, _ names: [String]) -> String? {
        guard let last = names.last else { return nil }
        guard names.count > 1 else { return "the \(word) \(last)" }
        return "the \(word)s \(names.dropLast().joined(separator: ", ")) and \(last)"
    }
}
