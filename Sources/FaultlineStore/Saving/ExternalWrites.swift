import Foundation

/// The files of large values that a transaction makes and replaces.
///
/// They are named in an ``UnsavedFiles`` as long as it is not known whether the transaction is committed.
struct ExternalWrites {
    private let external: ExternalData
    private var new: [URL] = []
    private var old: [URL] = []
    private var unsaved: UnsavedFiles?

    init(_ external: ExternalData) {
        self.external = external
    }

    /// What a column holds of a value; a large one is written to a new file first.
    mutating func column(_ value: Data) throws(StoreError) -> Data {
        guard value.count >= external.threshold else { return Data([1]) + value }
        let name = UUID().uuidString
        note([name])
        new.append(try external.write(value, as: name))
        return ExternalData.column(name)
    }

    /// Takes in a file whose value is replaced, or whose row is deleted.
    mutating func replace(_ file: URL) { old.append(file) }

    /// Called before the transaction is committed, after which the files that are replaced are needed no more.
    mutating func willCommit() {
        if !old.isEmpty { note(old.map(\.lastPathComponent)) }
    }

    /// Removes what was made, because the transaction is taken back.
    mutating func undo() {
        ExternalData.remove(new)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// Removes what was replaced, because the transaction is committed.
    mutating func finish() {
        ExternalData.remove(old)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// Without the note, files of a program that is killed stay, which costs room and nothing else.
    private mutating func note(_ names: [String]) {
        if unsaved == nil { unsaved = UnsavedFiles(external) }
        unsaved?.note(names)
    }
}
