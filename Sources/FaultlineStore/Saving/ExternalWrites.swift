import Foundation

/// The files of large values that a transaction creates and replaces.
///
/// An ``UnsavedFiles`` lists them until the outcome of the transaction is known.
struct ExternalWrites {
    private let external: ExternalData
    private var new: [URL] = []
    private var old: [URL] = []
    private var unsaved: UnsavedFiles?

    init(_ external: ExternalData) {
        self.external = external
    }

    /// Returns the column's bytes for a value, after writing a large value to a new file.
    mutating func column(_ value: Data) throws(StoreError) -> Data {
        guard value.count >= external.threshold else { return ExternalData.inlineColumn(value) }
        let name = UUID().uuidString
        note([name])
        new.append(try external.write(value, as: name))
        return ExternalData.column(name)
    }

    /// Registers a file whose value is replaced or whose row is deleted.
    mutating func replace(_ file: URL) { old.append(file) }

    /// Lists the replaced files before the commit, after which they are no longer needed.
    mutating func willCommit() {
        if !old.isEmpty { note(old.map(\.lastPathComponent)) }
    }

    /// Removes the new files, after a rollback.
    mutating func undo() {
        ExternalData.remove(new)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// Removes the replaced files, after the commit.
    mutating func finish() {
        ExternalData.remove(old)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// If listing fails and the program is killed, files are left behind, which only costs disk space.
    private mutating func note(_ names: [String]) {
        if unsaved == nil { unsaved = UnsavedFiles(external) }
        unsaved?.note(names)
    }
}
