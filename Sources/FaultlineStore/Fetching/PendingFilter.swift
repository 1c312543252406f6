import FaultlineModel

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
