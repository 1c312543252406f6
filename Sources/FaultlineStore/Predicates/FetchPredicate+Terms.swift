import FaultlineModel
package import FaultlineTrace

extension FetchPredicate {
    /// The comparisons, of a store that keeps no text folded.
    package var terms: [ShapeEntry.Term] { terms { _ in false } }

    /// The comparisons as a trace's shape tells them: from left to right, without their values.
    ///
    /// Of a long predicate the first ``ShapeEntry/maximumTerms``.
    ///
    /// - Parameter isFolded: whether the store keeps the text at the end of a key path folded.
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

    /// A hash for the values of each of the ``terms``, and one more for all that are compared behind the last of them.
    ///
    /// - Parameter hash: Gives a hash of bytes that tells nothing about them.
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

/// One comparison, and what a row's fulfilling it means for the predicate.
private struct PredicateTerm {
    var comparison: FetchPredicate.Comparison
    /// Another one can take its place.
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
    /// The comparison with a constant on its right, if it has one and says the same that way.
    var propertyFirst: FetchPredicate.Comparison {
        guard left.isConstant, !right.isConstant, modifier == .direct, let operation = operation.mirrored else {
            return self
        }
        return FetchPredicate.Comparison(left: right, operation: operation, right: left, options: options)
    }
}

extension FetchPredicate.Node {
    /// A part of a predicate on the way to its comparisons.
    private struct Part {
        var node: FetchPredicate.Node
        var isAlternative = false
        var isNegated = false
    }

    /// Goes over the comparisons from left to right, without those inside of expressions.
    ///
    /// Without recursion: a chain of terms may be longer than the stack is deep.
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
                // That not all of some hold means that one of them does not.
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

    /// Feeds the constants of all comparisons to a hash.
    fileprivate func appendConstants(to bytes: inout [UInt8]) {
        forEachTerm { term in
            term.comparison.left.appendConstants(to: &bytes)
            term.comparison.right.appendConstants(to: &bytes)
        }
    }
}

extension FetchExpression.Node {
    /// The key path as the model writes it, without the `#` that a format needs in front of its own words: `"size"`.
    ///
    /// Where it is no property alone, the expression.
    fileprivate var keyPath: String {
        guard case .path(let path) = self, path.root == .object, !path.names.isEmpty else {
            return text(values: false)
        }
        return path.names.joined(separator: ".")
    }

    /// What a property is compared with, in a word.
    fileprivate func word(isRange: Bool) -> String {
        switch self {
        case .null: "nil"
        case .value: "value"
        case .object: "object"
        case .list(let elements) where isConstant: isRange ? "value" : elements.first?.word(isRange: false) ?? "value"
        case .list, .path, .aggregate, .function, .conditional: "expression"
        }
    }

    /// Feeds the constants of an expression to a hash.
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
