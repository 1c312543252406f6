/// The way to a property: where it begins, and the names on it.
struct FetchPath: Sendable, Hashable {
    /// Where a path begins.
    indirect enum Root: Sendable, Hashable {
        /// The object that a predicate is asked about.
        case object
        case variable(String)
        /// The objects of a to-many relationship for which a predicate holds.
        case subquery(FetchPath, variable: String, FetchPredicate.Node)
    }

    var root: Root
    /// Names of properties and collection operators; empty: where it begins.
    var names: [String]

    /// A path from the object; `"self"`, in whatever case, is the object.
    init(_ keyPath: String) {
        self.init(root: .object, keyPath: keyPath)
        if names.first?.uppercased() == "SELF" { names.removeFirst() }
    }

    /// - Parameter keyPath: names with points between them; empty: none.
    init(root: Root, keyPath: String) {
        self.root = root
        names =
            keyPath.isEmpty && root != .object
            ? [] : keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The path as a predicate's format writes it.
    ///
    /// - Parameter values: whether constants are told.
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

    /// What makes one value of many.
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

    /// The collection operator of the path, with the path in front of it and the names behind it; `nil`: it has none.
    var collectionOperator: (collection: FetchPath, operator: String, names: [String])? {
        guard let place = names.firstIndex(where: { $0.hasPrefix("@") }) else { return nil }
        var collection = self
        collection.names = Array(names[..<place])
        return (collection, names[place], Array(names[(place + 1)...]))
    }
}
