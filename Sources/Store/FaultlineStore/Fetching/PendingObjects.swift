import FaultlineModel

/// The unsaved changes of a context that a fetch must take into account.
///
/// SQL leaves out the rows that the context has changed or deleted. The changed and new objects that the request
/// selects are then merged into the result. A child's fetch takes the changes of its ancestors into account as well; each
/// ancestor compares its own objects with the predicate.
struct PendingObjects {
    /// Keys of the rows that the context has changed or deleted.
    let hidden: [Int64]
    /// New and changed objects that the request may select.
    private let inserted: ContiguousArray<ManagedObject>
    private let updated: [ManagedObject]
    private let context: ManagedObjectContext
    /// The unsaved changes of the parent.
    private let inherited: Inherited?
    private let terms: FetchTerms
    /// The number of objects compared with the request's predicate.
    let comparedCount: Int

    /// A box, because a struct cannot contain itself.
    private final class Inherited {
        let objects: PendingObjects

        init(_ objects: PendingObjects) {
            self.objects = objects
        }
    }

    /// - Returns: `nil` if no change concerns the request.
    init?(_ context: ManagedObjectContext, _ terms: FetchTerms, _ entity: EntityRuntime) {
        guard terms.includesPendingChanges else { return nil }
        let inherited = context.parent.flatMap { parent in
            context.inParent(parent) { PendingObjects(parent, terms, entity) }
        }
        guard inherited != nil || !context.inserted.isEmpty || !context.updated.isEmpty || !context.deleted.isEmpty
        else { return nil }
        let schema = entity.schema
        let wanted = terms.includesSubentities ? Set(schema.family) : [schema.index]
        let map = entity.map
        let changed = context.updatedObjects.filter { $0.runtime.map == map }.map { Self.resolved($0, context) }
        let deleted = context.deletedObjects.filter { $0.runtime.map == map }
        hidden = (changed + deleted).map(\.key) + (inherited?.hidden ?? [])
        let isWanted = { (object: ManagedObject) in
            object.runtime.map == map
                && (object.runtime.schema.index == schema.index || wanted.contains(object.runtime.schema.index))
        }
        // An import looks up one object after another while thousands are new, so most are rejected here, in one pass
        // without copies.
        var (found, compared) = (ContiguousArray<ManagedObject>(), 0)
        var filter = PendingFilter(terms.predicate)
        context.inserted.forEachHeld { object in
            guard object.isInserted, isWanted(object) else { return }
            compared += 1
            if filter?.rulesOut(object) != true { found.append(object) }
        }
        inserted = found
        updated = changed.filter(isWanted)
        comparedCount = compared + updated.count + (inherited?.comparedCount ?? 0)
        self.context = context
        self.inherited = inherited.map { Inherited($0) }
        self.terms = terms
        if hidden.isEmpty, comparedCount == 0 { return nil }
    }

    /// The object with the row's actual entity and class, if it was created with another entity of its tree.
    private static func resolved(_ object: ManagedObject, _ context: ManagedObjectContext) -> ManagedObject {
        if object.flags.contains(.isFault) { context.fire(object) }
        return object.flags.contains(.hasOtherClass) ? context.object(object.runtime, key: object.key) : object
    }

    /// The terms for SQL: all rows up to the end of the requested range, because unsaved objects may come first.
    func widened(counting: Bool) -> FetchTerms {
        var widened = terms
        widened.limit = terms.limit > 0 && !counting ? terms.limit + terms.offset : 0
        widened.offset = 0
        return widened
    }

    /// The objects that the request selects, in its order, with their sort keys.
    func matches() -> [(object: ManagedObject, keys: [SQLValue])] {
        let evaluator = PredicateEvaluator()
        let order = SortOrder(terms.sortDescriptors)
        // The parent may have saved or deleted objects since the child's fetch began.
        func isSelected(_ object: ManagedObject) -> Bool {
            terms.predicate.map { evaluator.holds($0.node, for: object) } ?? true
        }
        let selected =
            inserted.filter { $0.isInserted && isSelected($0) } + updated.filter { !$0.isDeleted && isSelected($0) }
        let keyed = inheritedMatches() + selected.map { (object: $0, keys: order.keys(of: $0, evaluator)) }
        // The sort is stable: objects that were inserted first come first.
        return keyed.enumerated().sorted { left, right in
            let result = order.compare(left.element.keys, right.element.keys)
            return result == 0 ? left.offset < right.offset : result < 0
        }.map(\.element)
    }

    /// The objects that the parent's changes select, without those that this context has changed itself.
    private func inheritedMatches() -> [(object: ManagedObject, keys: [SQLValue])] {
        guard let inherited, let parent = context.parent else { return [] }
        let found = context.inParent(parent) {
            inherited.objects.matches().map { (entity: $0.object.runtime, key: $0.object.key, keys: $0.keys) }
        }
        return found.compactMap { match in
            let object = context.object(match.entity, key: match.key)
            return object.hasChanges ? nil : (object, match.keys)
        }
    }

    /// Merges the objects into the rows that SQL returned.
    ///
    /// - Parameters:
    ///   - count: The number of rows that SQL returned.
    ///   - keys: The sort keys of each row.
    /// - Returns: The row or the object at each index of the result.
    func merge(
        _ matches: [(object: ManagedObject, keys: [SQLValue])], count: Int, keys: [[SQLValue]]
    ) -> [Position] {
        let order = SortOrder(terms.sortDescriptors)
        var positions: [Position] = []
        positions.reserveCapacity(count + matches.count)
        var next = 0
        for row in 0..<count {
            if !keys.isEmpty {
                while next < matches.count, order.compare(matches[next].keys, keys[row]) < 0 {
                    positions.append(.object(matches[next].object, matches[next].keys))
                    next += 1
                }
            }
            positions.append(.row(row))
        }
        positions += matches[next...].map { .object($0.object, $0.keys) }
        let start = min(terms.offset, positions.count)
        let end = terms.limit > 0 ? min(start + terms.limit, positions.count) : positions.count
        return Array(positions[start..<end])
    }

    /// The result of a count request.
    func count(_ rows: Int, _ matches: Int) -> Int {
        let rest = max(0, rows + matches - terms.offset)
        return terms.limit > 0 ? min(rest, terms.limit) : rest
    }

    /// An entry of a merged result.
    enum Position {
        case row(Int)
        /// With its sort keys.
        case object(ManagedObject, [SQLValue])
    }
}

/// The order of a request's sort descriptors, for objects in memory.
struct SortOrder {
    private let descriptors: [(node: FetchExpression.Node, isAscending: Bool, order: TextOrder)]

    init(_ descriptors: [FetchSortDescriptor]) {
        self.descriptors = descriptors.map { (.path(FetchPath($0.keyPath)), $0.isAscending, $0.order) }
    }

    /// The sort keys of an object.
    func keys(of object: ManagedObject, _ evaluator: PredicateEvaluator) -> [SQLValue] {
        descriptors.map { descriptor in
            if case .path(let path) = descriptor.node, path.names.isEmpty { return Self.key(of: object) }
            return evaluator.value(descriptor.node, for: object)
        }
    }

    /// The key of an object; a new object sorts after all others, in order of creation.
    private static func key(of object: ManagedObject) -> SQLValue {
        .integer(object.key > 0 ? object.key : .max / 2 - object.key)
    }

    /// Returns a negative number, 0 or a positive number, in SQLite's order.
    func compare(_ left: [SQLValue], _ right: [SQLValue]) -> Int {
        for (position, descriptor) in descriptors.enumerated() {
            let order = Self.compare(left[position], right[position], descriptor.order)
            if order != 0 { return descriptor.isAscending ? order : -order }
        }
        return 0
    }

    private static func compare(_ left: SQLValue, _ right: SQLValue, _ order: TextOrder) -> Int {
        guard order != .lexical, case .text(let one) = left, case .text(let other) = right else {
            return left.order(right)
        }
        return order.compare(one, other)
    }
}

/// Rejects objects with unsaved changes that cannot match a predicate, using one of its comparisons.
///
/// The comparison is an equality between a property and a constant, either the whole predicate or a term of its
/// conjunction. Other comparisons, and values whose equality is not exact, are left to ``PredicateEvaluator``, which
/// takes about fifty times as long per object.
struct PendingFilter {
    private enum Constant {
        case text(String)
        case integer(Int64)
        case object(ManagedObjectID)
    }

    private let name: String
    private let constant: Constant
    /// The entity of the last object, and the index of the compared property in it.
    private var runtime: EntityRuntime?
    private var index: Int?

    /// - Returns: `nil` if the predicate has no such comparison.
    init?(_ predicate: FetchPredicate?) {
        guard let predicate else { return nil }
        let terms: [FetchPredicate.Node] =
            switch predicate.node {
            case .and: predicate.node.allTerms
            default: [predicate.node]
            }
        for case .comparison(let comparison) in terms {
            guard comparison.operation == .equalTo, comparison.modifier == .direct, comparison.options.isEmpty,
                let (path, constant) = Self.sides(comparison.left, comparison.right)
                    ?? Self.sides(comparison.right, comparison.left),
                path.root == .object, path.names.count == 1
            else { continue }
            (name, self.constant) = (path.names[0], constant)
            return
        }
        return nil
    }

    private static func sides(
        _ left: FetchExpression.Node, _ right: FetchExpression.Node
    ) -> (FetchPath, Constant)? {
        guard case .path(let path) = left else { return nil }
        switch right {
        case .value(.string(let text)): return (path, .text(text))
        case .value(.integer(let number)): return (path, .integer(number))
        case .object(let id): return (path, .object(id))
        default: return nil
        }
    }

    /// Whether an object's unsaved value certainly differs from the constant.
    @inline(__always)
    mutating func rulesOut(_ object: ManagedObject) -> Bool {
        if runtime !== object.runtime { look(at: object.runtime) }
        guard let index, let pending = object.pending else { return false }
        switch (pending.position(of: index).pointee, constant) {
        case (.value(.string(let value)), .text(let text)):
            // Strings are equal if their bytes are, regardless of Unicode equivalence.
            return value.utf8.count != text.utf8.count || !value.utf8.elementsEqual(text.utf8)
        case (.value(.integer(let value)), .integer(let number)): return value != number
        case (.object(let value), .object(let id)): return value.key != id.key
        default: return false
        }
    }

    private mutating func look(at runtime: EntityRuntime) {
        self.runtime = runtime
        index = runtime.schema.property(name).flatMap { $0.isToMany ? nil : $0.index }
    }
}
