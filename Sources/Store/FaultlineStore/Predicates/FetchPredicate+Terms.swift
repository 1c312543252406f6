import FaultlineModel
package import FaultlineTrace

extension FetchPredicate {
    /// The comparisons, for a store without normalized text.
    package var terms: [ShapeEntry.Term] { terms { _ in false } }

    /// The comparisons as a trace's shape records them: from left to right, without their values.
    ///
    /// Limited to the first ``ShapeEntry/maximumTerms``.
    ///
    /// - Parameter isFolded: Whether the store keeps a normalized copy of the text at a key path.
    func terms(isFolded: (String) -> Bool) -> [ShapeEntry.Term] {
        var terms: [ShapeEntry.Term] = []
        node.forEachTerm { term in
            guard terms.count < ShapeEntry.maximumTerms else { return }
            var entry = term.entry
            if entry.options == "cd", isFolded(entry.keyPath) { entry.isFolded = true }
            terms.append(entry)
        }
        return terms
    }

    /// Hashes of the values of each of the ``terms``, then one hash for all values after the last of them.
    ///
    /// - Parameter hash: A one-way hash of bytes.
    func operandHashes(_ hash: (UnsafeRawBufferPointer) -> UInt64) -> [UInt64] {
        var hashes: [UInt64] = []
        var bytes: [UInt8] = []
        func close() {
            // A number in JSON is exact up to 53 bits.
            hashes.append(bytes.withUnsafeBytes(hash) >> 11)
            bytes.removeAll(keepingCapacity: true)
        }
        node.forEachTerm { term in
            term.comparison.left.appendConstants(to: &bytes)
            term.comparison.right.appendConstants(to: &bytes)
            if hashes.count < ShapeEntry.maximumTerms { close() }
        }
        if !bytes.isEmpty { close() }
        return hashes
    }
}

/// A comparison, and its role in the predicate.
private struct PredicateTerm {
    var comparison: FetchPredicate.Comparison
    /// Whether the predicate can hold without it.
    var isAlternative: Bool
    var isNegated: Bool

    var entry: ShapeEntry.Term {
        let comparison = comparison.propertyFirst
        var term = ShapeEntry.Term(
            keyPath: comparison.left.keyPath, operation: comparison.operation.rawValue,
            operand: comparison.right.word(isRange: comparison.operation == .between),
            options: comparison.options.letters)
        if comparison.modifier != .direct { term.operation = "\(comparison.modifier.rawValue) \(term.operation)" }
        if case .path = comparison.left {} else { term.operand = "expression" }
        if comparison.operation == .like, case .value(.string(let pattern)) = comparison.right {
            term.wildcards = TextSearch.wildcards(of: pattern).rawValue
        }
        if isAlternative { term.isAlternative = true }
        if isNegated { term.isNegated = true }
        return term
    }
}

extension FetchPredicate.Comparison {
    /// The equivalent comparison with a constant on its right, if there is one.
    var propertyFirst: FetchPredicate.Comparison {
        guard left.isConstant, !right.isConstant, modifier == .direct, let operation = operation.mirrored else {
            return self
        }
        return FetchPredicate.Comparison(left: right, operation: operation, right: left, options: options)
    }
}

extension FetchPredicate.Node {
    /// A part of a predicate during traversal.
    private struct Part {
        var node: FetchPredicate.Node
        var isAlternative = false
        var isNegated = false
    }

    /// Visits the comparisons from left to right, except those inside expressions.
    ///
    /// Does not recurse, because a chain of terms can be deeper than the stack.
    fileprivate func forEachTerm(_ body: (PredicateTerm) -> Void) {
        var waiting = [Part(node: self)]
        while let next = waiting.popLast() {
            switch next.node {
            case .comparison(let comparison):
                body(
                    PredicateTerm(
                        comparison: comparison, isAlternative: next.isAlternative, isNegated: next.isNegated))
            case .constant: break
            case .not(let node):
                var inner = next
                inner.node = node
                inner.isNegated.toggle()
                waiting.append(inner)
            case .and(let nodes), .or(let nodes):
                // By De Morgan's laws, a negated conjunction is a disjunction.
                let isChoice = next.node.isDisjunction != next.isNegated
                for node in nodes.reversed() {
                    var inner = next
                    inner.node = node
                    inner.isAlternative = next.isAlternative || (isChoice && nodes.count > 1)
                    waiting.append(inner)
                }
            }
        }
    }

    private var isDisjunction: Bool {
        if case .or = self { true } else { false }
    }

    /// Appends the constants of all comparisons, for a hash.
    fileprivate func appendConstants(to bytes: inout [UInt8]) {
        forEachTerm { term in
            term.comparison.left.appendConstants(to: &bytes)
            term.comparison.right.appendConstants(to: &bytes)
        }
    }
}

extension FetchExpression.Node {
    /// The key path as in the model, without the `#` that escapes reserved words in a format: `"size"`.
    ///
    /// For anything but a plain property, the expression's text.
    fileprivate var keyPath: String {
        guard case .path(let path) = self, path.root == .object, !path.names.isEmpty else {
            return text(values: false)
        }
        return path.names.joined(separator: ".")
    }

    /// The kind of operand that a property is compared with.
    fileprivate func word(isRange: Bool) -> String {
        switch self {
        case .null: "nil"
        case .value: "value"
        case .object: "object"
        case .list(let elements) where isConstant: isRange ? "value" : elements.first?.word(isRange: false) ?? "value"
        case .list, .path, .aggregate, .function, .conditional: "expression"
        }
    }

    /// Appends the constants of an expression, for a hash.
    fileprivate func appendConstants(to bytes: inout [UInt8]) {
        switch self {
        case .null: SQLValue.null.append(to: &bytes)
        case .value(let value): SQLValue(value).append(to: &bytes)
        case .object(let id): SQLValue.integer(id.key).append(to: &bytes)
        case .list(let elements), .function(_, let elements):
            for element in elements { element.appendConstants(to: &bytes) }
        case .aggregate(_, let node): node.appendConstants(to: &bytes)
        case .path(let path):
            if case .subquery(_, _, let predicate) = path.root { predicate.appendConstants(to: &bytes) }
        case .conditional(let predicate, let first, let second):
            predicate.appendConstants(to: &bytes)
            first.appendConstants(to: &bytes)
            second.appendConstants(to: &bytes)
        }
    }
}
