import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// The work of a save.
struct ChangeSet {
    var inserted: [ManagedObject] = []
    var updated: [ManagedObject] = []
    var deleted: [ManagedObject] = []
    /// Changed objects that another writer deleted, and that are written again.
    var revived: [ManagedObject] = []
    /// Objects in the store to which others were added, where the foreign key is in the other object's row.
    var related: [ManagedObject] = []
    /// Row changes of join tables, and of members whose relationship has no inverse.
    var joins: [Join] = []
    /// Ordered relationships whose order must be written.
    var orders: [Order] = []
    /// The numbers of the relationships whose to-many side changes.
    var relationships: Set<Int> = []
    /// Objects of the store whose members changed; only filled for a store that tracks its history.
    var regrouped: [ManagedObject] = []

    struct Join {
        var table: JoinTableSchema
        /// The relationship of the source.
        var name: String
        var source: ManagedObject
        var destination: ManagedObject
        var isAdded: Bool
    }

    struct Order {
        var owner: ManagedObject
        /// The index of the relationship in the owner's properties.
        var index: Int
    }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && revived.isEmpty && joins.isEmpty && orders.isEmpty
    }

    /// A change set with only new objects.
    init(inserted: [ManagedObject]) {
        self.inserted = Self.byEntity(inserted)
    }

    /// Collects the changes of a context.
    ///
    /// The cost depends on the number of changes, not on the number of objects in the context.
    ///
    /// - Parameter revived: Objects to insert again instead of updating them.
    init(_ context: ManagedObjectContext, revived: Set<ManagedObject> = []) {
        // Rows are written table by table, which prepares each statement only once.
        inserted = Self.byEntity(context.insertedObjects)
        deleted = Self.byEntity(context.deletedObjects)
        updated = Self.byEntity(
            context.updated.filter { object in
                object.isUpdated && !object.isDeleted && object.pending != nil && !revived.contains(object)
            })
        self.revived = Self.byEntity(context.updated.filter { revived.contains($0) && !$0.isDeleted })
        related = context.updated.filter { object in
            object.isUpdated && !object.isInserted && !object.isDeleted && !revived.contains(object)
                && object.toMany.values.contains { $0.added.contains { !$0.isDeleted } }
        }
        if context.stores.contains(where: { $0.history != nil }) {
            regrouped = context.updated.filter { object in
                object.isUpdated && !object.isInserted && !object.isDeleted && object.hasToMany
                    && object.toMany.values.contains { $0.hasChanges }
            }
        }
        for object in context.inserted where object.hasToMany && object.isInserted {
            addJoins(of: object)
            addOrders(of: object)
        }
        for object in context.updated where object.hasToMany && object.isUpdated && !object.isInserted {
            addJoins(of: object)
            addOrders(of: object)
        }
        for object in deleted where !object.isUpdated { addJoins(of: object) }
        addRelationships(of: inserted)
        addRelationships(of: updated)
        addRelationships(of: deleted)
        addRelationships(of: self.revived)
    }

    /// Adds the relationships whose members can change.
    ///
    /// - Parameter objects: Grouped by entity.
    private mutating func addRelationships(of objects: [ManagedObject]) {
        var last = -1
        objects.forEachHeld { object in
            guard object.runtime.position != last else { return }
            last = object.runtime.position
            relationships.formUnion(object.runtime.memberRelationships)
        }
    }

    /// The changes of one store's objects.
    ///
    /// Keeps the relationships that changed in other stores, which only costs reading their members again.
    func part(in store: SQLStore) -> ChangeSet {
        func isOwn(_ object: ManagedObject) -> Bool { object.runtime.store === store }
        var part = self
        part.inserted.removeAll { !isOwn($0) }
        part.updated.removeAll { !isOwn($0) }
        part.deleted.removeAll { !isOwn($0) }
        part.revived.removeAll { !isOwn($0) }
        part.related.removeAll { !isOwn($0) }
        part.regrouped.removeAll { !isOwn($0) }
        part.joins.removeAll { !isOwn($0.source) }
        part.orders.removeAll { !isOwn($0.owner) }
        return part
    }

    /// Checks that no relationship crosses stores.
    ///
    /// - Throws: ``StoreError`` if an object of one store refers to an object of another.
    func checkStores() throws(StoreError) {
        func check(_ object: ManagedObject, _ name: String, _ other: ManagedObject) throws(StoreError) {
            guard !other.isDeleted, other.runtime.store !== object.runtime.store else { return }
            throw StoreError(
                .externalRelationship,
                "Saving \(object.entityName) \(object.objectID): '\(name)' refers to a \(other.entityName) in the store '\(other.runtime.store.path)', but the object is in '\(object.runtime.store.path)'; assign both to one store, or use a fetched property.",
                objectID: object.objectID)
        }
        for object in inserted + updated + revived {
            guard let pending = object.pending else { continue }
            for index in pending.indices {
                guard case .object(let other) = pending[index] else { continue }
                try check(object, object.runtime.schema.properties[index].name, other)
            }
        }
        for join in joins where join.isAdded { try check(join.source, join.name, join.destination) }
    }

    private static func byEntity(_ objects: [ManagedObject]) -> [ManagedObject] {
        guard objects.contains(where: { $0.runtime !== objects[0].runtime }) else { return objects }
        let positions = objects.indices.sorted {
            (objects[$0].runtime.schema.index, $0) < (objects[$1].runtime.schema.index, $1)
        }
        return positions.map { objects[$0] }
    }

    private mutating func addOrders(of object: ManagedObject) {
        guard !object.isDeleted else { return }
        for (index, state) in object.toMany.sorted(by: { $0.key < $1.key }) where state.isOrderChanged {
            let property = object.runtime.schema.properties[index]
            guard property.isOrdered else { continue }
            orders.append(Order(owner: object, index: index))
            relationships.insert(property.relationshipNumber)
        }
    }

    /// Adds the join rows of an object's many-to-many relationships.
    ///
    /// Both sides know of a pair; the side with the lower relationship number adds it. If a relationship is its own
    /// inverse, each side adds a row. Without an inverse, only the owner knows of the pair.
    private mutating func addJoins(of object: ManagedObject) {
        for (index, state) in object.toMany where state.hasChanges {
            let property = object.runtime.schema.properties[index]
            guard let table = property.joinTable else { continue }
            relationships.insert(property.relationshipNumber)
            if let inverse = object.runtime.model.inverse(of: property)?.relationshipNumber {
                relationships.insert(inverse)
                guard property.relationshipNumber <= inverse else { continue }
            }
            for other in state.removed where object.key > 0 && other.key > 0 {
                joins.append(
                    Join(table: table, name: property.name, source: object, destination: other, isAdded: false))
            }
            for other in state.added where !object.isDeleted && !other.isDeleted {
                joins.append(Join(table: table, name: property.name, source: object, destination: other, isAdded: true))
            }
        }
    }
}

extension ChangeSet {
    /// The objects to write that a fetch returned and the program has not read, by fetch: candidates for a batch
    /// request.
    ///
    /// Empty if a class overrides a method that runs for each saved object.
    ///
    /// - Parameter hash: A keyed hash of bytes.
    func unread(_ hash: (UnsafeRawBufferPointer) -> UInt64) -> [TraceEvent.Save.Unread] {
        guard !deleted.contains(where: { $0.overrides(.saving) }), !updated.contains(where: { $0.overrides(.saving) })
        else { return [] }
        var parts: [EventID: UnreadPart] = [:]
        for object in deleted where object.isUnread { parts[object.trail.fetch, default: UnreadPart()].deleted += 1 }
        for object in updated where object.isUnread { parts[object.trail.fetch, default: UnreadPart()].add(object) }
        let counts = parts.map { fetch, part in
            TraceEvent.Save.Unread(
                fetch: fetch, deleted: part.deleted, updated: part.updated, properties: part.properties,
                values: part.updated > 0 ? part.bytes.withUnsafeBytes(hash) >> 11 : 0)
        }
        return Array(
            counts.filter { $0.deleted + $0.updated > 0 }.sorted { $0.fetch < $1.fetch }
                .prefix(TraceEvent.Save.Unread.maximumFetches))
    }
}

/// The unread objects of one fetch that a save writes.
private struct UnreadPart {
    var deleted: UInt64 = 0
    /// The number of objects that were set to the same values as the first.
    var updated: UInt64 = 0
    /// The properties that were set, one bit each.
    var properties: UInt64 = 0
    private var values: PendingChanges?

    /// The values that were set, as bytes to hash.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        guard let values else { return bytes }
        for index in values.indices {
            switch values[index] {
            case .value(let value): SQLValue(value).append(to: &bytes)
            case .null: SQLValue.null.append(to: &bytes)
            case .unchanged, .object: bytes.append(.max)
            }
        }
        return bytes
    }

    mutating func add(_ object: ManagedObject) {
        guard let pending = object.pending, object.toMany.values.allSatisfy({ !$0.hasChanges }) else { return }
        guard let first = values else {
            guard let properties = object.settableProperties(pending) else { return }
            (values, self.properties, updated) = (pending, properties, 1)
            return
        }
        let isAlike = object.runtime.schema.properties.indices.allSatisfy { index in
            let value = index < first.indices.upperBound ? first[index] : .unchanged
            return pending[index].isSame(as: value)
        }
        updated += isAlike ? 1 : 0
    }
}

extension ObjectTrail {
    /// The last fetch that returned the object; 0 if unknown.
    fileprivate var fetch: EventID { use?.fetch ?? 0 }
}

extension ManagedObject {
    /// Whether a fetch returned the object and none of its properties has been read since.
    fileprivate var isUnread: Bool {
        trail.fetch != 0 && trail.readProperties == 0 && runtime.schema.properties.count <= UInt64.bitWidth
    }

    /// The properties that were set, one bit each; `nil` if there are none, or some that a batch request cannot set.
    fileprivate func settableProperties(_ pending: PendingChanges) -> UInt64? {
        var bits: UInt64 = 0
        for property in runtime.schema.properties {
            switch pending[property.index] {
            case .unchanged: continue
            case .value, .null:
                guard property.attributeType.map({ $0 != .transformable }) ?? false, !property.isTransient,
                    !property.isDerived, !property.isExternal,
                    property.index < TraceEvent.Save.Unread.maximumProperties
                else { return nil }
                bits |= 1 << UInt64(property.index)
            case .object: return nil
            }
        }
        return bits == 0 ? nil : bits
    }
}
