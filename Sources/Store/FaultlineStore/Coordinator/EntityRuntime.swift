import CStore
package import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The runtime state of an entity: the class of its objects, its row layout and its statements.
@usableFromInline
package final class EntityRuntime: Sendable {
    /// The result columns that fill the columns of a row.
    struct RowColumns: @unchecked Sendable {
        // Immutable after initialization.
        let start: UnsafePointer<cstore_column>
        let count: Int

        init(_ columns: [cstore_column]) {
            let copy = UnsafeMutablePointer<cstore_column>.allocate(capacity: max(columns.count, 1))
            copy.initialize(from: columns, count: columns.count)
            start = UnsafePointer(copy)
            count = columns.count
        }
    }

    package let schema: EntitySchema
    /// The model with this store's entity numbers and layout.
    package let model: ModelSchema
    /// The indexes of the entity and of its tree's root entity in the model.
    let position: Int
    let root: Int
    /// The table of a context's identity map for the tree's objects; each store of a coordinator has its own.
    let map: Int
    let objectClass: ManagedObject.Type
    /// The methods that the class overrides.
    let overridden: OverriddenMethods
    let layout: RowLayout
    /// Offsets of the properties' values in a row; -1 if the value is not in the row.
    let offsets: [Int]
    let slots: [Int]
    /// A number that no other entity's layout has; shared by the same entity in other stores of the coordinator.
    let layoutID: UInt32
    /// `SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME`: the columns of the entity and its subentities.
    let rowSelection: String
    /// `SELECT 0, t0.Z_PK`: only the key.
    let keySelection: String
    /// The statement that loads the row of a fault.
    let faultSQL: String
    /// The columns of a row, by the index of its entity; `nil` for entities outside the family.
    let rowColumns: [RowColumns?]
    /// The columns of a new row to bind; those without a type are bound separately.
    let boundColumns: RowColumns
    /// By slot: the property whose value the column stores unconverted, or -1.
    let plainProperties: [Int]
    /// By property: the type of an attribute that stores every fitting value unchanged, except that a floating-point
    /// number may lose digits.
    // Immutable after initialization.
    nonisolated(unsafe) private let plainTypes: UnsafePointer<AttributeType?>
    /// The initial values of a new object, by property; empty if there are no defaults.
    // Immutable after initialization. Plain memory avoids a retain for each new object.
    nonisolated(unsafe) private let newValues: UnsafeMutableBufferPointer<PendingValue>
    private let propertyCount: Int
    /// The numbers of the to-many relationships that change with objects of the entity.
    let memberRelationships: [Int]
    /// The default values, by property.
    let defaults: [AttributeValue?]
    /// The default values of transient attributes, by property.
    let transientDefaults: [Int: PendingValue]
    /// The properties that a save must validate, and those with the delete rule deny.
    let checkedProperties: [Int]
    let denyingProperties: [Int]
    /// The regular expressions that values must match, by property.
    let patterns: [Int: TextPattern]
    private let traceID = Atomic<DictionaryID>(0)
    /// The properties' numbers in the trace's dictionary; 0 if not entered yet.
    private let nameIDs: Mutex<[DictionaryID]>
    /// The recorded uses of the objects that to-one relationships refer to.
    let destinationUses: DestinationUses

    private static let nextLayout = Atomic<UInt32>(1)

    /// Set once, when the store is created.
    @exclusivity(unchecked)
    nonisolated(unsafe) private unowned(unsafe) var owner: SQLStore?

    /// The store that contains the entity's objects.
    ///
    /// The store holds this object, and contexts hold the store while they exist.
    var store: SQLStore {
        @inline(__always) get { owner.unsafelyUnwrapped }
    }

    /// Sets the store; called once, before the object is shared.
    func belong(to store: SQLStore) { owner = store }

    /// Creates the runtime state.
    ///
    /// - Parameters:
    ///   - isUTF8: whether the store's text encoding is UTF-8.
    ///   - storePlace: The store's index among all stores that its coordinator ever had.
    ///   - sibling: The same entity in another store of the coordinator.
    init(
        _ schema: EntitySchema, in model: ModelSchema, objectClass: ManagedObject.Type, isUTF8: Bool, storePlace: Int,
        sibling: EntityRuntime?
    ) {
        self.schema = schema
        self.model = model
        position = schema.index
        root = schema.root
        map = storePlace * model.entities.count + schema.root
        self.objectClass = objectClass
        overridden = OverriddenMethods(of: objectClass)
        let layout = RowLayout(schema.columns)
        self.layout = layout
        slots = schema.properties.map(\.slot)
        offsets = schema.properties.map { $0.slot < 0 ? -1 : RowLayout.offset(ofSlot: $0.slot) }
        // Attribute keys remember one layout, so the entity's objects in all stores should share it.
        if let sibling, sibling.slots == slots {
            layoutID = sibling.layoutID
        } else {
            layoutID = Self.nextLayout.add(1, ordering: .relaxed).oldValue
        }

        let columns = Self.familyColumns(schema, model)
        let first = schema.isInTree ? "t0.Z_ENT" : "0"
        keySelection = "SELECT \(first), t0.Z_PK"
        rowSelection = (["SELECT \(first), t0.Z_PK, t0.Z_OPT"] + columns.map { "t0.\($0)" }).joined(separator: ", ")
        faultSQL = "\(rowSelection) FROM \(schema.table) t0 WHERE  t0.Z_PK = ?"
        rowColumns = Self.rowColumns(schema, model, selected: columns, isUTF8: isUTF8)
        boundColumns = Self.boundColumns(schema)
        plainProperties = schema.columns.map { column in
            let property = schema.properties[column.property]
            return property.isRelationship || property.isExternal || column.storage == .decimal ? -1 : column.property
        }
        let types = UnsafeMutableBufferPointer<AttributeType?>.allocate(capacity: max(schema.properties.count, 1))
        _ = types.initialize(
            from: schema.properties.map { $0.isTransient || $0.attributeType == .float ? nil : $0.attributeType })
        plainTypes = UnsafePointer(types.baseAddress!)
        memberRelationships = schema.properties.compactMap { property in
            property.kind == .toOne ? model.inverse(of: property)?.relationshipNumber : nil
        }
        defaults = schema.properties.map(\.defaultValue)
        let new = Self.newValues(schema)
        newValues = .allocate(capacity: new.count)
        _ = newValues.initialize(from: new)
        propertyCount = schema.properties.count
        transientDefaults = Dictionary(
            uniqueKeysWithValues: schema.properties.compactMap { property in
                property.isTransient ? property.defaultValue.map { (property.index, .value($0)) } : nil
            })
        checkedProperties = schema.properties.filter {
            !$0.isTransient && (!$0.isOptional || $0.isDerived || $0.limits != nil)
        }.map(\.index)
        denyingProperties = schema.properties.filter { $0.deleteRule == .deny }.map(\.index)
        patterns = Dictionary(
            uniqueKeysWithValues: schema.properties.compactMap { property in
                property.limits?.regularExpression.map { (property.index, TextPattern($0, [], isExpression: true)) }
            })
        nameIDs = Mutex(Array(repeating: 0, count: schema.properties.count))
        destinationUses = DestinationUses(schema, model)
    }

    deinit {
        for columns in rowColumns + [boundColumns] { columns?.start.deallocate() }
        plainTypes.deallocate()
        newValues.deinitialize()
        newValues.deallocate()
    }

    /// The result columns that fill a row, by the index of the row's entity.
    ///
    /// - Parameter columns: The columns that a statement selects after the entity, the key and the version.
    private static func rowColumns(
        _ schema: EntitySchema, _ model: ModelSchema, selected columns: [String], isUTF8: Bool
    ) -> [RowColumns?] {
        var rowColumns = [RowColumns?](repeating: nil, count: model.entities.count)
        for position in schema.family {
            rowColumns[position] = RowColumns(
                model.entities[position].columns.map { column in
                    cstore_column(
                        column: Int32(3 + columns.firstIndex(of: column.name)!),
                        storage: Int32(storage(column, isUTF8: isUTF8).rawValue))
                })
        }
        return rowColumns
    }

    /// The columns of a new row to bind.
    private static func boundColumns(_ schema: EntitySchema) -> RowColumns {
        RowColumns(
            schema.columns.enumerated().map { slot, column in
                cstore_column(
                    column: Int32(slot),
                    storage: Int32((column.storage == .decimal ? CSTORE_NULL : boundType(column)).rawValue))
            })
    }

    /// The initial values of a new object, by property; empty if there are no defaults.
    private static func newValues(_ schema: EntitySchema) -> [PendingValue] {
        guard schema.properties.contains(where: { !$0.isTransient && $0.defaultValue != nil }) else { return [] }
        return schema.properties.map { property in
            property.isTransient ? .unchanged : property.defaultValue.map { .value($0) } ?? .unchanged
        }
    }

    private static func boundType(_ column: ColumnSchema) -> cstore_type {
        switch column.storage {
        case .integer: CSTORE_INTEGER
        case .real: CSTORE_REAL
        case .text, .decimal: CSTORE_TEXT
        case .blob: CSTORE_BLOB
        }
    }

    /// With UTF-8, text can be read as a blob, because the bytes are the same.
    private static func storage(_ column: ColumnSchema, isUTF8: Bool) -> cstore_type {
        let type = boundType(column)
        return type == CSTORE_TEXT && isUTF8 ? CSTORE_BLOB : type
    }

    /// The columns of an entity and its subentities: attributes, then foreign keys, each sorted by name.
    private static func familyColumns(_ schema: EntitySchema, _ model: ModelSchema) -> [String] {
        guard schema.family.count > 1 else { return schema.columns.map(\.name) }
        var seen: Set<String> = []
        var found: [(isKey: Bool, name: String, column: String)] = []
        for position in schema.family {
            let member = model.entities[position]
            for column in member.columns where seen.insert(column.name).inserted {
                let property = member.properties[column.property]
                found.append((property.isRelationship, property.name, column.name))
            }
        }
        let order = found.indices.sorted {
            (found[$0].isKey ? 1 : 0, found[$0].name, $0) < (found[$1].isKey ? 1 : 0, found[$1].name, $1)
        }
        return order.map { found[$0].column }
    }

    /// The entity's number in the trace's dictionary.
    ///
    /// Called only while recording.
    @inline(__always)
    func traceID(_ recorder: Recorder) -> DictionaryID {
        let known = traceID.load(ordering: .relaxed)
        return known != 0 ? known : makeTraceID(recorder)
    }

    @inline(never)
    private func makeTraceID(_ recorder: Recorder) -> DictionaryID {
        let properties = schema.properties.map { property in
            let destination = model.destination(of: property)
            let inverse = model.inverse(of: property)
            return EntityEntry.Property(
                name: property.name,
                type: property.attributeType?.rawValue ?? (property.isToMany ? "toMany" : "toOne"),
                declaredAt: property.declaredAt, isExternal: property.isExternal ? true : nil,
                destination: destination?.name,
                inverse: inverse?.isToMany == false ? inverse?.name : nil)
        }
        let top = schema.root == schema.index ? nil : model.entities[schema.root].name
        let entry = EntityEntry(
            name: schema.name, root: top, properties: properties,
            rowCacheLimit: UInt64(max(0, store.description.rowCacheLimit)))
        let id = recorder.intern(.entity(entry))
        traceID.store(id, ordering: .relaxed)
        // Inherited properties are declared by an ancestor, and rows can have any subentity, used by the program or
        // not.
        if let parent = schema.parent { _ = store.entities[parent].traceID(recorder) }
        for position in schema.family where position != schema.index { _ = store.entities[position].traceID(recorder) }
        return id
    }

    /// Creates the unsaved changes of a new object.
    @inline(__always)
    func newChanges() -> PendingChanges {
        newValues.isEmpty ? .unchanged(count: propertyCount) : .copy(of: newValues)
    }

    /// Whether an attribute stores a value unchanged.
    @inline(__always)
    func keeps(_ value: borrowing AttributeValue?, _ property: Int) -> Bool {
        guard let type = plainTypes[property] else { return false }
        switch value {
        case nil: return true
        case .some(let value): return value.fits(type)
        }
    }

    /// The number of a property's name in the trace's dictionary.
    ///
    /// Called only while recording.
    func nameID(_ property: Int, _ recorder: Recorder) -> DictionaryID {
        nameIDs.withLock { ids in
            if ids[property] == 0 {
                ids[property] = recorder.intern(.name(NameEntry(name: schema.properties[property].name)))
            }
            return ids[property]
        }
    }

    /// The statement that reads the keys of a to-many relationship's members; called on its destination.
    func memberSQL(_ property: PropertySchema) -> String {
        let order = Self.memberOrder(property)
        if let join = property.joinTable {
            return
                "\(keySelection) FROM \(join.table) t1 JOIN \(schema.table) t0 ON t0.Z_PK = t1.\(join.destinationColumn) WHERE t1.\(join.sourceColumn) = ?\(order.isEmpty ? "" : " ORDER BY \(order)")"
        }
        return
            "\(keySelection) FROM \(schema.table) t0 WHERE  t0.\(model.memberKey(of: property).column) = ?\(order.isEmpty ? "" : " ORDER BY \(order)")"
    }

    /// The sort columns of an ordered relationship's members; empty if it is unordered.
    static func memberOrder(_ property: PropertySchema) -> String {
        guard let column = property.orderColumn else { return "" }
        return "\(property.joinTable == nil ? "t0" : "t1").\(column), t0.Z_PK"
    }
}
