import FaultlineModel

/// Sorts out objects with unsaved changes that a predicate cannot hold for, by one of its comparisons.
///
/// That is an equality of a property and a constant that must hold. It says nothing of most other comparisons, and of
/// values whose equality is not plain: those objects are left to ``PredicateEvaluator``, which takes some fifty times as
/// long for each.
struct PendingFilter {
    private enum Constant {
        case text(String)
        case integer(Int64)
        case object(ManagedObjectID)
    }

    private let name: String
    private let constant: Constant
    /// Of which entity the last object was, and which of its properties is compared.
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

    /// Whether an object's unsaved value differs from the constant for certain.
    @inline(__always)
    mutating func rulesOut(_ object: ManagedObject) -> Bool {
        if runtime !== object.runtime { look(at: object.runtime) }
        guard let index, let pending = object.pending else { return false }
        switch (pending.place(of: index).pointee, constant) {
        case (.value(.string(let value)), .text(let text)):
            // Texts are equal byte by byte, not by what they mean.
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
