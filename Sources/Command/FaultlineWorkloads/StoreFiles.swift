import FaultlineStore
import Foundation

/// The files that a store consists of.
enum StoreFiles {
    /// Removes a store, if there is one.
    static func remove(at url: URL) throws {
        let files = [
            url.path, url.path + "-wal", url.path + "-shm", PersistentStore.supportFolder(of: url).path,
        ]
        for file in files where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }
}

extension PersistentStoreDescription {
    /// Creates a description of a sample's store.
    ///
    /// A store that was filled with other flaws has another model, and must be filled anew instead of migrated.
    init(sampleAt url: URL) {
        self.init(url: url)
        shouldMigrateStoreAutomatically = false
    }
}

extension UInt64 {
    /// Adds a text to the checksum of a sample app's output, which is used to compare its forms.
    mutating func add(_ text: String) {
        for byte in text.utf8 { self = self &* 31 &+ UInt64(byte) }
    }
}

/// The flaws of a sample app, which can be switched on individually.
package protocol FlawSet: OptionSet, Sendable {
    /// The flaws with their names on the command line.
    static var named: [(name: String, flaw: Self)] { get }
    static var all: Self { get }
}

extension GroceriesFlaws: FlawSet {}
extension MusicLibraryFlaws: FlawSet {}

extension Groceries.Outcome: CustomStringConvertible {
    package var description: String {
        "\(screens) screens, \(rows) rows, \(views) views, checksum \(checksum)"
    }
}

extension MusicLibrary.Outcome: CustomStringConvertible {
    package var description: String { "\(screens) screens, \(rows) rows, checksum \(checksum)" }
}
