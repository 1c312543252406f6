/// The files that the user counts among a program's libraries, besides those that are recognized as such.
///
/// The call site of an event is never in them, unless no other function of the program is on its stack.
package enum LibraryPaths {
    /// Files or directories, as complete components of their paths: `src/db`, or `run.c`.
    @TaskLocal package static var added: [String] = []

    /// Whether a file is one of them, or lies in one of the directories.
    static func contain(_ file: String) -> Bool {
        let added = added
        guard !added.isEmpty, !file.isEmpty else { return false }
        let path = "/" + file
        return added.contains { one in
            let name = one.drop { $0 == "/" }
            return path.hasSuffix("/" + name) || path.contains("/" + name + "/")
        }
    }
}
