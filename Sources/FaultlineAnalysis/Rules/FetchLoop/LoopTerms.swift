internal import FaultlineTrace

/// The predicate of the one fetch that replaces many that differ in one term.
struct LoopTerms {
    private let term: ShapeEntry.Term
    private let others: [ShapeEntry.Term]
    private let isSimple: Bool

    init(_ shape: ShapeEntry, except term: ShapeEntry.Term) {
        self.term = term
        var others = shape.terms ?? []
        if let position = others.firstIndex(of: term) { others.remove(at: position) }
        self.others = others
        isSimple = others.allSatisfy {
            $0.isAlternative != true && $0.isNegated != true && $0.options == nil && $0.operand == "value"
                && ["==", "!=", "<", "<=", ">", ">="].contains($0.operation)
        }
    }

    /// The terms that do not change, or `nil` if there are none.
    var text: String? {
        guard !others.isEmpty else { return nil }
        return others.map { term in
            "\(term.isNegated == true ? "NOT " : "")\(term.keyPath) \(term.operation) \(term.operand == "nil" ? "nil" : "?")"
        }.joined(separator: ", ")
    }

    /// The predicate as code, one term per line.
    var predicate: [String] {
        let isObject = term.operand == "object" || term.keyPath.uppercased() == "SELF"
        let list = ".isIn(\"\(term.keyPath)\", \(isObject ? "objects: ids" : "values"))"
        guard !others.isEmpty else { return ["request.predicate = \(list)"] }
        let rest =
            isSimple
            ? others.map { "PropertyPath(\"\($0.keyPath)\") \($0.operation) \(Self.name($0.keyPath))" } : ["otherTerms"]
        return ["request.predicate = FetchPredicate\(list)"] + rest.map { "    && \($0)" }
    }

    /// A variable name for a value: the last component of its key path.
    private static func name(_ keyPath: String) -> String {
        keyPath.split(separator: ".").last.map(String.init) ?? "value"
    }
}
