internal import CRecorder

/// A program or a library that a process had loaded.
package struct LoadedModule: Hashable, Sendable {
    /// The file's path.
    package let path: String
    /// Whether its copy of SQLite has no symbols and is recorded by its hooks.
    package let isRecordedByHooks: Bool

    /// Reads a line of the list that the preloaded library leaves.
    init(line: some StringProtocol) {
        isRecordedByHooks = line.hasPrefix(FL_MODULE_MARK)
        path = String(isRecordedByHooks ? line.dropFirst() : line[...])
    }
}
