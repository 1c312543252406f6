import FaultlineModel
import Foundation

extension SQLGenerator {
    /// A term of a WHERE clause, with the leading space that Core Data writes.
    mutating func condition(_ node: FetchPredicate.Node) throws(StoreError) -> String {
        switch node {
        case .constant(let value): return value ? " 1 = 1" : " 1 = 0"
        // In SQL, a comparison with NULL is neither true nor false, and neither is its negation. Predicates have only
        // two truth values: a comparison that is false for lack of a value is true when negated.
        case .not(let node): return " NOT (IFNULL(\(try condition(node)), 0))"
        case .and: return try compound(node, " AND ", empty: " 1 = 1")
        case .or: return try compound(node, " OR ", empty: " 1 = 0")
        case .comparison(let comparison):
            if comparison.modifier != .direct { return try quantified(comparison) }
            if case .path(let path) = comparison.left, isCollection(path) {
                guard comparison.operation == .contains else { throw manyObjects(path) }
                return try contains(
                    path,
                    { (generator, element) throws(StoreError) in
                        var inner = comparison
                        inner.operation = .equalTo
                        return try generator.compare(element, inner)
                    }, isFirst: false)
            }
            return try compare(try operand(comparison.left, comparedWith: comparison.right), comparison)
        }
    }

    /// A condition inside an expression, which must not multiply the rows of the statement.
    mutating func conditionOfOneRow(_ node: FetchPredicate.Node) throws(StoreError) -> String {
        let multiplied = multipliesRows
        multipliesRows = false
        defer { multipliesRows = multiplied }
        return try condition(node)
    }

    func manyObjects(_ path: FetchPath) -> StoreError {
        let name = path.names.first { name in
            !name.hasPrefix("@")
        }
        return invalid(
            "'\(path.text(values: false))' goes through '\(name ?? "")', which is to-many; put ANY or ALL before the comparison, or aggregate the values with @count, @sum, @min, @max or @avg."
        )
    }

    private mutating func compound(
        _ node: FetchPredicate.Node, _ word: String, empty: String
    ) throws(StoreError) -> String {
        let nodes = node.terms
        guard !nodes.isEmpty else { return empty }
        var terms: [String] = []
        for node in nodes { terms.append(try condition(node)) }
        return Self.chain(terms, word)
    }

    /// Joins conditions with AND or OR.
    static func chain(_ terms: [String], _ word: String) -> String {
        var terms = terms
        // The expression tree of a chain is as deep as the chain is long, and SQLite's limit is 1000
        // (https://www.sqlite.org/limits.html#max_expr_depth).
        while terms.count > longestChain {
            terms = stride(from: 0, to: terms.count, by: longestChain).map { start in
                let part = terms[start..<min(start + longestChain, terms.count)]
                return " (\(part.joined(separator: word)))"
            }
        }
        return terms.count == 1 ? terms[0] : "(\(terms.joined(separator: word)))"
    }

    static let longestChain = 200

    // MARK: - Comparisons

    /// A comparison whose left side has been translated.
    mutating func compare(
        _ left: SQLOperand, _ comparison: FetchPredicate.Comparison
    ) throws(StoreError) -> String {
        let operation = comparison.operation
        switch operation {
        case .isIn: return try membership(left, comparison)
        case .between:
            guard case .list(let bounds) = comparison.right, bounds.count == 2 else {
                throw invalid(
                    "BETWEEN takes a list of two values, and '\(comparison.right.text(values: false))' is not one; write {lower, upper}."
                )
            }
            guard case .attribute = left.type else {
                throw invalid("'\(left.text)' is not an attribute and cannot be ordered.")
            }
            var sql: [String] = []
            for bound in bounds {
                let right = try operand(bound, comparedWith: left)
                try check(left, right)
                sql.append(right.sql)
            }
            return "\(left.sql) BETWEEN \(sql[0]) AND \(sql[1])"
        default: break
        }
        if case .null = comparison.right {
            switch operation {
            case .equalTo: return "\(left.sql) IS NULL"
            case .notEqualTo: return "\(left.sql) IS NOT NULL"
            default:
                throw invalid("'\(left.text)' can be compared with nil only by == and !=, not \(operation.rawValue).")
            }
        }
        if operation.isText || !comparison.options.isEmpty {
            return try textComparison(left, operation, comparison.right, comparison.options)
        }
        let right = try operand(comparison.right, comparedWith: left)
        if case .object = left.type { return try compareObjects(left, operation, right) }
        if case .object = right.type {
            if left.constant != nil { return try compareObjects(left, operation, right) }
            throw invalid("'\(left.text)' is an attribute and cannot be compared with an object.")
        }
        try check(left, right)
        return compare(left, operation, right)
    }

    private func compareObjects(
        _ left: SQLOperand, _ operation: FetchPredicate.Operator, _ right: SQLOperand
    ) throws(StoreError) -> String {
        guard case .object(let one) = left.type, case .object(let other) = right.type else {
            let object = left.attributeType == nil ? left : right
            guard object.property != nil else {
                throw invalid("'\(object.text)' can only be compared with objects.")
            }
            throw invalid("'\(object.text)' is a relationship and can only be compared with objects.")
        }
        guard operation == .equalTo || operation == .notEqualTo else {
            guard left.property != nil || right.property != nil else {
                throw invalid("objects can be compared only by == and !=, not \(operation.rawValue).")
            }
            throw invalid(
                "'\((left.property == nil ? right : left).text)' can be compared with an object only by == and !=, not \(operation.rawValue)."
            )
        }
        for (side, entity, from) in [(left, one, other), (right, other, one)] where side.property != nil {
            guard entity.root == from.root else {
                throw invalid(
                    "'\(side.text)' refers to \(entity.name) and cannot be compared with an object of \(from.name).")
            }
        }
        return compare(left, operation, right)
    }

    /// A comparison of two compatible sides.
    private func compare(_ left: SQLOperand, _ operation: FetchPredicate.Operator, _ right: SQLOperand) -> String {
        switch operation {
        case .equalTo: return "\(left.sql) = \(right.sql)"
        case .notEqualTo:
            // A missing value is unequal to every value.
            let optional = [left, right].filter(\.isOptional)
            let isPlain = optional.allSatisfy { $0.property != nil }
            if optional.isEmpty { return "\(left.sql) <> \(right.sql)" }
            if !isPlain { return " IFNULL(\(left.sql) <> \(right.sql), 1)" }
            let terms = ["\(left.sql) <> \(right.sql)"] + optional.map { "\($0.sql) IS NULL" }
            return "(\(terms.joined(separator: " OR ")))"
        default: return "\(left.sql) \(operation.rawValue) \(right.sql)"
        }
    }

    // MARK: - Checks

    /// Checks that values of the two sides can be compared.
    ///
    /// - Throws: ``StoreError`` if they cannot.
    func check(_ left: SQLOperand, _ right: SQLOperand) throws(StoreError) {
        guard let one = left.attributeType, let other = right.attributeType else {
            let (object, value) = left.attributeType == nil ? (left, right) : (right, left)
            guard value.constant != nil else {
                throw invalid("'\(value.text)' is an attribute and cannot be compared with an object.")
            }
            guard object.property != nil else {
                throw invalid("'\(object.text)' can only be compared with objects.")
            }
            throw invalid("'\(object.text)' is a relationship and can only be compared with objects.")
        }
        guard one.domain == other.domain, one.domain != .other else {
            let (side, with) = left.constant == nil ? (left, right) : (right, left)
            let what = with.constant.map { "\($0)" } ?? "'\(with.text)' \(with.typeText)"
            throw invalid(
                "'\(side.text)' \(side.typeText) cannot be compared with \(what); compare it with a value of its type.")
        }
    }
}

extension FetchPredicate.Node {
    /// The terms of a conjunction or a disjunction, in order.
    ///
    /// Terms that were combined with `&&` or `||` form a nested chain. A long chain is flattened into one list of
    /// terms, because SQLite limits the nesting depth.
    var terms: [FetchPredicate.Node] {
        guard let nodes = parts(like: self) else { return [self] }
        let found = allTerms
        return found.count > SQLGenerator.longestChain / 2 ? found : nodes
    }

    /// The terms of a conjunction or a disjunction, including nested ones of the same kind.
    var allTerms: [FetchPredicate.Node] {
        guard let nodes = parts(like: self) else { return [self] }
        var found: [FetchPredicate.Node] = []
        // Traverses from the last to the first without recursion, because a chain can be deeper than the stack.
        var waiting = nodes
        while let node = waiting.popLast() {
            if let nested = node.parts(like: self) { waiting += nested } else { found.append(node) }
        }
        return found.reversed()
    }

    private func parts(like other: FetchPredicate.Node) -> [FetchPredicate.Node]? {
        switch (self, other) {
        case (.and(let nodes), .and), (.or(let nodes), .or): nodes
        default: nil
        }
    }

    /// Whether the predicate can select a row that lacks the object of a relationship in it.
    ///
    /// An inner join would lose such a row.
    var keepsUnrelated: Bool {
        switch self {
        case .and(let nodes): nodes.contains { $0.keepsUnrelated }
        case .or, .not: true
        case .constant: false
        case .comparison(let comparison):
            comparison.operation == .notEqualTo || comparison.modifier != .direct || comparison.left.hasValueForNull
                || comparison.right.hasValueForNull
        }
    }
}

extension FetchExpression.Node {
    /// Whether it can have a value although a property in it has none, or represents a missing value itself.
    fileprivate var hasValueForNull: Bool {
        switch self {
        case .value, .object: false
        case .null, .conditional, .aggregate: true
        // A missing element does not matter in a list.
        case .list(let elements): elements.contains { !$0.isConstant }
        case .path(let path): path.collectionOperator != nil || path.root != .object
        case .function(let function, let arguments): function == .now || arguments.contains { $0.hasValueForNull }
        }
    }
}
