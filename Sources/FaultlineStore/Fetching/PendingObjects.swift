import FaultlineModel

/// The unsaved changes of a context that a fetch must take into account.
///
/// SQL leaves out the rows that the context has changed or is going to delete, and those of its objects that the request
/// selects as they are now come in their places.
struct PendingObjects {
    /// Keys of rows that are changed or deleted here.
    let hidden: [Int64]
    /// Objects that the request may select.
    private let candidates: [ManagedObject]
    private let terms: FetchTerms
    /// Objects that the request's predicate was compared with.
    let comparedCount: Int

    /// - Returns: `nil` if no change concerns the request.
    init?(_ context: ManagedObjectContext, _ terms: FetchTerms, _ entity: EntityRuntime) {
        guard terms.includesPendingChanges,
            !context.inserted.isEmpty || !context.updated.isEmpty || !context.deleted.isEmpty
        else { return nil }
        let schema = entity.schema
        let wanted = terms.includesSubentities ? Set(schema.family) : [schema.index]
        let map = entity.map
        let changed = context.updatedObjects.filter { $0.runtime.map == map }.map { Self.resolved($0, context) }
        let deleted = context.deletedObjects.filter { $0.runtime.map == map }
        hidden = (changed + deleted).map(\.key)
        let isWanted = { (object: ManagedObject) in
            object.runtime.map == map
                && (object.runtime.schema.index == schema.index || wanted.contains(object.runtime.schema.index))
        }
        // An import asks for one object after the other while thousands are new: most are sorted out here, in one pass
        // that copies nothing.
        var (found, compared) = (ContiguousArray<ManagedObject>(), 0)
        var filter = PendingFilter(terms.predicate)
        context.inserted.forEachHeld { object in
            guard object.isInserted, isWanted(object) else { return }
            compared += 1
            if filter?.rulesOut(object) != true { found.append(object) }
        }
        let updated = changed.filter(isWanted)
        candidates = found + updated
        comparedCount = compared + updated.count
        self.terms = terms
        if hidden.isEmpty, comparedCount == 0 { return nil }
    }

    /// The object of the row's own entity and class, where somebody named it by another entity of its tree.
    private static func resolved(_ object: ManagedObject, _ context: ManagedObjectContext) -> ManagedObject {
        if object.flags.contains(.isFault) { context.fire(object) }
        return object.flags.contains(.hasOtherClass) ? context.object(object.runtime, key: object.key) : object
    }

    /// What SQL is asked for: of a part of the objects everything up to its end, since what is unsaved may come first.
    func widened(counting: Bool) -> FetchTerms {
        var widened = terms
        widened.limit = terms.limit > 0 && !counting ? terms.limit + terms.offset : 0
        widened.offset = 0
        return widened
    }

    /// The objects that the request selects, in its order, with what they are sorted by.
    func matches() -> [(object: ManagedObject, keys: [SQLValue])] {
        let evaluator = PredicateEvaluator()
        let order = SortOrder(terms.sortDescriptors)
        let selected = candidates.filter { object in
            terms.predicate.map { evaluator.holds($0.node, for: object) } ?? true
        }
        let keyed = selected.map { (object: $0, keys: order.keys(of: $0, evaluator)) }
        // Stable, so that what was inserted first comes first.
        return keyed.enumerated().sorted { left, right in
            let result = order.compare(left.element.keys, right.element.keys)
            return result == 0 ? left.offset < right.offset : result < 0
        }.map(\.element)
    }

    /// Puts the objects among what SQL has found.
    ///
    /// - Parameters:
    ///   - count: how many rows SQL has found.
    ///   - keys: what each of them is sorted by.
    /// - Returns: for each place of the result the row that stands there, or the object.
    func merge(
        _ matches: [(object: ManagedObject, keys: [SQLValue])], count: Int, keys: [[SQLValue]]
    ) -> [Place] {
        let order = SortOrder(terms.sortDescriptors)
        var places: [Place] = []
        places.reserveCapacity(count + matches.count)
        var next = 0
        for row in 0..<count {
            if !keys.isEmpty {
                while next < matches.count, order.compare(matches[next].keys, keys[row]) < 0 {
                    places.append(.object(matches[next].object, matches[next].keys))
                    next += 1
                }
            }
            places.append(.row(row))
        }
        places += matches[next...].map { .object($0.object, $0.keys) }
        let start = min(terms.offset, places.count)
        let end = terms.limit > 0 ? min(start + terms.limit, places.count) : places.count
        return Array(places[start..<end])
    }

    /// How many objects a count request counts.
    func count(_ rows: Int, _ matches: Int) -> Int {
        let rest = max(0, rows + matches - terms.offset)
        return terms.limit > 0 ? min(rest, terms.limit) : rest
    }

    /// What stands at a place of a result.
    enum Place {
        case row(Int)
        /// With what it is sorted by.
        case object(ManagedObject, [SQLValue])
    }
}

/// The order of a request's sort descriptors, for objects in memory.
struct SortOrder {
    private let descriptors: [(node: FetchExpression.Node, isAscending: Bool, order: TextOrder)]

    init(_ descriptors: [FetchSortDescriptor]) {
        self.descriptors = descriptors.map { (.path(FetchPath($0.keyPath)), $0.isAscending, $0.order) }
    }

    /// What an object is sorted by.
    func keys(of object: ManagedObject, _ evaluator: PredicateEvaluator) -> [SQLValue] {
        descriptors.map { descriptor in
            if case .path(let path) = descriptor.node, path.names.isEmpty { return Self.key(of: object) }
            return evaluator.value(descriptor.node, for: object)
        }
    }

    /// A new object gets a key behind all others, in the order in which they were made.
    private static func key(of object: ManagedObject) -> SQLValue {
        .integer(object.key > 0 ? object.key : .max / 2 - object.key)
    }

    /// Less than 0, 0 or greater than 0, as SQLite orders rows.
    func compare(_ left: [SQLValue], _ right: [SQLValue]) -> Int {
        for (place, descriptor) in descriptors.enumerated() {
            let order = Self.compare(left[place], right[place], descriptor.order)
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
