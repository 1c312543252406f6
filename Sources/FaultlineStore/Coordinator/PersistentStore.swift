public import Foundation
import Synchronization

/// A store that a coordinator has opened, or had opened.
///
/// It says which store it is; what is in it is reached through contexts. Holding it does not keep the store open.
public final class PersistentStore: Sendable {
    /// How a store keeps its data.
    public enum StoreType: String, Sendable, Hashable {
        /// In an SQLite database, of which only what is needed is read.
        case sqlite = "SQLite"
        /// In one file, which is read as a whole when the store is opened and replaced as a whole by each save.
        case binary = "Binary"
        /// In memory, as long as its coordinator has it.
        case inMemory = "InMemory"
    }

    /// The key of the store's type in its metadata.
    public static let typeKey = "NSStoreType"
    /// The key of the store's ``identifier`` in its metadata.
    public static let uuidKey = "NSStoreUUID"

    /// The table with the store's model, as the text of a file `contents` of a `.xcdatamodel`, and the name of its
    /// configuration.
    package static let modelTable = "Z_FAULTLINE"

    /// What tells the store from all others, and its copies not: a UUID, `Z_UUID` in the file.
    public let identifier: String
    /// The store's file; `/dev/null` for a store in memory that was given no URL.
    public let url: URL
    public let type: StoreType
    /// The configuration of the model whose entities the store has; `nil`: all entities.
    public let configurationName: String?
    /// Whether the store can be read only.
    public let isReadOnly: Bool
    private let values: Mutex<StoreMetadata>

    init(_ description: PersistentStoreDescription, uuid: String, metadata: StoreMetadata) {
        identifier = uuid
        url = description.url
        type = description.type
        configurationName = description.configuration
        isReadOnly = description.isReadOnly
        values = Mutex(metadata)
    }

    /// What is kept beside the objects: the store's own values, whose keys begin with `NS`, and the program's.
    ///
    /// Values are `String`, `Int`, `Double`, `Bool`, `Date`, `Data`, and arrays and dictionaries of these. The program's
    /// are set with ``PersistentStoreCoordinator/setMetadata(_:for:)``.
    public var metadata: [String: any Sendable] {
        var values = values.withLock { $0.values }
        values[Self.typeKey] = type.rawValue
        values[Self.uuidKey] = identifier
        return values
    }

    /// The folder beside a store's file that has the files of its large values.
    package static func supportFolder(of url: URL) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    func withMetadata<Result: Sendable>(_ body: (inout sending StoreMetadata) -> sending Result) -> Result {
        values.withLock { body(&$0) }
    }
}

extension PersistentStore: Hashable {
    // A store is opened again as another one, whatever its identifier.
    public static func == (left: PersistentStore, right: PersistentStore) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension PersistentStore: CustomStringConvertible {
    public var description: String { "<PersistentStore: \(type.rawValue) \(url.path) \(identifier)>" }
}
