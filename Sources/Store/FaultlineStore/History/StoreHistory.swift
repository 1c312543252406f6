package import FaultlineModel
import Foundation

/// The persistent history of an open store: how its tables describe the model's objects.
///
/// Guarded by the writer's lock, except for what never changes.
package final class StoreHistory {
    let tables: HistoryTables
    /// By entity: the names of the properties that the bits of `ZCOLUMNS` stand for.
    private let names: [[String]]
    /// By entity: the bits by name.
    private let bits: [[String: Int]]
    /// By entity: the attributes in `ZTOMBSTONE0` and so on.
    let tombstones: [[PropertySchema]]
    /// The keys of names that have been written or read.
    private var strings: [String: Int64] = [:]

    /// Finds the history of a store, and creates its tables if they are missing and the store is writable.
    init(
        _ setup: StoreSetup, _ model: ManagedObjectModel, _ schema: ModelSchema, isReadOnly: Bool
    ) throws(StoreError) {
        names = schema.entities.map { Self.propertyNames(of: $0.name, in: model) }
        bits = names.map { names in
            Dictionary(zip(names, names.indices)) { first, _ in first }
        }
        tombstones = schema.entities.map { entity in
            Self.tombstoneNames(of: entity.name, in: model).compactMap { entity.property($0) }
        }
        tables = try HistoryTables(setup, tombstones: tombstones.map(\.count).max() ?? 0, isReadOnly: isReadOnly)
    }

    // MARK: - Orders

    // Both are the orders in which others have seen Core Data number properties. Apple does not document them.

    /// The names of an entity's properties in the order of their bits.
    package static func propertyNames(of entity: String, in model: ManagedObjectModel) -> [String] {
        lineage(of: entity, in: model).flatMap { entity in
            entity.attributes.filter { !$0.isTransient }.map(\.name)
                + entity.relationships.filter { !$0.isTransient }.map(\.name)
        }.sorted()
    }

    /// The names of the attributes of which a value remains, in the order of their columns.
    package static func tombstoneNames(of entity: String, in model: ManagedObjectModel) -> [String] {
        lineage(of: entity, in: model).flatMap(\.attributes).filter { attribute in
            attribute.preservesValueInHistoryOnDeletion && !attribute.isTransient
                && !attribute.allowsExternalBinaryDataStorage && attribute.type != .composite
        }.map(\.name).sorted()
    }

    /// The column of a value that remains.
    package static func tombstoneColumn(_ number: Int) -> String { HistoryTables.tombstoneColumn(number) }

    private static func lineage(of entity: String, in model: ManagedObjectModel) -> [EntityDescription] {
        model.entity(named: entity).map(model.lineage) ?? []
    }

    // MARK: - Names

    /// The key of a name that is known to be in the store.
    func key(of name: String) -> Int64? { strings[name] }

    func remember(_ name: String, _ key: Int64) { strings[name] = key }

    /// Forgets the names, after a transaction that may have written some was rolled back.
    func forgetNames() { strings = [:] }

    // MARK: - Columns

    /// The value of `ZCOLUMNS` for properties of an entity: one bit each, the first in the highest bit of the first byte.
    func columns(_ properties: some Sequence<Int>, of entity: EntitySchema) -> Data {
        var data = Data(count: (names[entity.index].count + 7) / 8)
        for property in properties {
            // The elements of a composite attribute, which have its name before a dot, have no bits of their own.
            let name = entity.properties[property].name.prefix { $0 != "." }
            guard let bit = bits[entity.index][String(name)] else { continue }
            data[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return data
    }

    /// The properties for a value of `ZCOLUMNS`; `nil` if one of them is not in the model.
    func properties(_ columns: UnsafeRawBufferPointer, of entity: EntitySchema) -> Set<String>? {
        let names = names[entity.index]
        var found: Set<String> = []
        for (position, byte) in columns.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                guard position * 8 + bit < names.count else { return nil }
                found.insert(names[position * 8 + bit])
            }
        }
        return found
    }
}

/// Who makes the changes of a transaction.
struct HistoryAuthor {
    var author: String?
    var contextName: String?

    static let bundleID = Bundle.main.bundleIdentifier
    static let processName = ProcessInfo.processInfo.processName
}
