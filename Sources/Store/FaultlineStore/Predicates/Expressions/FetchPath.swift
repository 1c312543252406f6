/// A key path: its root, and the names that follow.
struct FetchPath: Sendable, Hashable {
    /// The root of a path.
    indirect enum Root: Sendable, Hashable {
        /// The object that the predicate is evaluated for.
        case object
        case variable(String)
        /// The objects of a to-many relationship for which a predicate holds.
        case subquery(FetchPath, variable: String, FetchPredicate.Node)
    }

    var root: Root
    /// Names of properties and collection operators; empty for the root itself.
    var names: [String]

    /// Creates a path from the object; `"self"`, in any case, is the object.
    init(_ keyPath: String) {
        self.init(root: .object, keyPath: keyPath)
        if names.first?.uppercased() == "SELF" { names.removeFirst() }
    }

    /// Creates a path from a root.
    ///
    /// - Parameter keyPath: Names separated by dots; may be empty.
    init(root: Root, keyPath: String) {
        self.root = root
        names =
            keyPath.isEmpty && root != .object
            ? [] : keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Formats the path for a predicate's format.
    ///
    /// - Parameter values: Whether to include constants.
    func text(values: Bool) -> String {
        let rest = names.map { PredicateWord.escaped($0) }.joined(separator: ".")
        switch root {
        case .object: return names.isEmpty ? "self" : rest
        case .variable(let name): return "$\(name)" + (names.isEmpty ? "" : ".\(rest)")
        case .subquery(let collection, let variable, let predicate):
            return "SUBQUERY(\(collection.text(values: values)), $\(variable), "
                + predicate.text(values: values, isOutermost: true) + ")" + (names.isEmpty ? "" : ".\(rest)")
        }
    }

    /// An operator that reduces several values to one.
    enum CollectionOperator: String, CaseIterable {
        case count = "@count"
        case sum = "@sum"
        case minimum = "@min"
        case maximum = "@max"
        case average = "@avg"

        var function: FetchExpression.Function {
            switch self {
            case .count: .count
            case .sum: .sum
            case .minimum: .minimum
            case .maximum: .maximum
            case .average: .average
            }
        }
    }

    /// The path's collection operator with the path before it and the names after it; `nil` if there is none.
    var collectionOperator: (collection: FetchPath, operator: String, names: [String])? {
        guard let position = names.firstIndex(where: { $0.hasPrefix("@") }) else { return nil }
        var collection = self
        collection.names = Array(names[..<position])
        return (collection, names[position], Array(names[(position + 1)...]))
    }
}
