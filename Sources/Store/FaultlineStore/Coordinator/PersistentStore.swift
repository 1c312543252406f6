public import Foundation
import Synchronization

/// A store that a coordinator has opened.
///
/// It identifies the store; contexts access the contents. Holding it does not keep the store open.
public final class PersistentStore: Sendable {
    /// The format in which a store keeps its data.
    public enum StoreType: String, Sendable, Hashable {
        /// An SQLite database, which is read as needed.
        case sqlite = "SQLite"
        /// One file, which is read completely when the store is opened and replaced completely by each save.
        case binary = "Binary"
        /// Memory, until the store is removed from its coordinator.
        case inMemory = "InMemory"
    }

    /// The key of the store's type in its metadata.
    public static let typeKey = "NSStoreType"
    /// The key of the store's ``identifier`` in its metadata.
    public static let uuidKey = "NSStoreUUID"

    /// The table with the store's model, as the text of an `.xcdatamodel`'s file `contents`, and its configuration.
    package static let modelTable = "Z_FAULTLINE"
    /// The table in which Core Data keeps the model as an archive; empty in stores of Faultline.
    package static let archiveTable = "Z_MODELCACHE"

    /// Identifies the store and its copies: a UUID, `Z_UUID` in the file.
    public let identifier: String
    /// The store's file; `/dev/null` for a store in memory without a URL.
    public let url: URL
    /// The format of the store.
    public let type: StoreType
    /// The configuration of the model whose entities the store contains; `nil` for all entities.
    public let configurationName: String?
    /// Whether the store is read-only.
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

    /// The store's metadata: its own values, whose keys begin with `NS`, and the program's.
    ///
    /// Values are `String`, `Int`, `Double`, `Bool`, `Date`, `Data`, and arrays and dictionaries of these. Set the
    /// program's values with ``PersistentStoreCoordinator/setMetadata(_:for:)``.
    public var metadata: [String: any Sendable] {
        var values = values.withLock { $0.values }
        values[Self.typeKey] = type.rawValue
        values[Self.uuidKey] = identifier
        return values
    }

    /// The folder beside a store's file that contains the files of its large values.
    package static func supportFolder(of url: URL) -> URL {
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    package func withMetadata<Result: Sendable>(_ body: (inout sending StoreMetadata) -> sending Result) -> Result {
        values.withLock { body(&$0) }
    }
}

extension PersistentStore: Hashable {
    // A store that is opened again is a different one, although its identifier is the same.
    /// Whether both are the same object.
    public static func == (left: PersistentStore, right: PersistentStore) -> Bool { left === right }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension PersistentStore: CustomStringConvertible {
    /// The value as text.
    public var description: String { "<PersistentStore: \(type.rawValue) \(url.path) \(identifier)>" }
}
