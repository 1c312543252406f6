import FaultlineModel
package import FaultlineTrace

extension FetchPredicate {
    /// The comparisons as a trace's shape tells them: from left to right, without their values.
    ///
    /// Of a long predicate the first ``ShapeEntry/maximumTerms``.
    package var terms: [ShapeEntry.Term] {
        var terms: [ShapeEntry.Term] = []
        node.forEachComparison { comparison in
            guard terms.count < ShapeEntry.maximumTerms else { return }
            terms.append(comparison.term)
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
        node.forEachComparison { comparison in
            comparison.node.appendOperands(to: &bytes)
            if hashes.count < ShapeEntry.maximumTerms { close() }
        }
        if !bytes.isEmpty { close() }
        return hashes
    }
}

/// One comparison, and what a row's fulfilling it means for the predicate.
private struct PredicateComparison {
    var node: FetchPredicate.Node
    /// Another one can take its place.
    var isAlternative = false
    var isNegated = false

    var term: ShapeEntry.Term {
        var term = ShapeEntry.Term(keyPath: "", operation: "")
        switch node {
        case .comparison(let keyPath, let operation, let operand, let options):
            term.keyPath = keyPath
            term.operation = operation.rawValue
            term.operand = operand.word
            term.options = options.letters
            if operation == .like, case .value(.string(let pattern)) = operand {
                term.wildcards = TextSearch.wildcards(of: pattern).rawValue
            }
        case .between(let keyPath, _, _):
            term.keyPath = keyPath
            term.operation = "BETWEEN"
        case .isIn(let keyPath, let operands):
            term.keyPath = keyPath
            term.operation = "IN"
            term.operand = operands.first?.word ?? "value"
        case .and, .or, .not, .constant: break
        }
        if isAlternative { term.isAlternative = true }
        if isNegated { term.isNegated = true }
        return term
    }
}

extension FetchPredicate.Node {
    /// Goes over the comparisons from left to right.
    ///
    /// Without recursion: a chain of terms may be longer than the stack is deep.
    fileprivate func forEachComparison(_ body: (PredicateComparison) -> Void) {
        var waiting = [PredicateComparison(node: self)]
        while let next = waiting.popLast() {
            switch next.node {
            case .comparison, .between, .isIn: body(next)
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

    /// The values of a comparison, as bytes.
    fileprivate func appendOperands(to bytes: inout [UInt8]) {
        switch self {
        case .comparison(_, _, let operand, _): operand.append(to: &bytes)
        case .between(_, let lower, let upper):
            SQLValue(lower).append(to: &bytes)
            SQLValue(upper).append(to: &bytes)
        case .isIn(_, let operands): for operand in operands { operand.append(to: &bytes) }
        case .and, .or, .not, .constant: break
        }
    }
}

extension FetchPredicate.Operand {
    fileprivate var word: String {
        switch self {
        case .null: "nil"
        case .value: "value"
        case .object: "object"
        }
    }

    fileprivate func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: SQLValue.null.append(to: &bytes)
        case .value(let value): SQLValue(value).append(to: &bytes)
        case .object(let id): SQLValue.integer(id.key).append(to: &bytes)
        }
    }
}
