import FaultlineModel
import Foundation

extension SQLGenerator {
    /// A term of a WHERE clause, with the space in front of it that Core Data puts there.
    mutating func condition(_ node: FetchPredicate.Node) throws(StoreError) -> String {
        switch node {
        case .constant(let value): return value ? " 1 = 1" : " 1 = 0"
        // In SQL a comparison with NULL is neither true nor false, and so is its negation. A predicate holds or it does
        // not: what does not hold for want of a value holds when it is negated.
        case .not(let node): return " NOT (IFNULL(\(try condition(node)), 0))"
        case .and: return try compound(node, " AND ", empty: " 1 = 1")
        case .or: return try compound(node, " OR ", empty: " 1 = 0")
        case .between(let keyPath, let lower, let upper):
            let column = try attribute(keyPath, comparedWith: [lower, upper])
            values.append(SQLValue(lower))
            values.append(SQLValue(upper))
            return " \(column) BETWEEN ? AND ?"
        case .isIn(let keyPath, let operands): return try membership(keyPath, operands)
        case .comparison(let keyPath, let operation, let operand, let options):
            return try comparison(keyPath, operation, operand, options)
        }
    }

    private mutating func compound(
        _ node: FetchPredicate.Node, _ word: String, empty: String
    ) throws(StoreError) -> String {
        let nodes = node.terms
        guard !nodes.isEmpty else { return empty }
        var terms: [String] = []
        for node in nodes { terms.append(try condition(node)) }
        // A chain of terms is as deep as it is long, and SQLite takes a depth of 1000
        // (https://www.sqlite.org/limits.html#max_expr_depth).
        while terms.count > Self.longestChain {
            terms = stride(from: 0, to: terms.count, by: Self.longestChain).map { start in
                let part = terms[start..<min(start + Self.longestChain, terms.count)]
                return " (\(part.joined(separator: word)))"
            }
        }
        return terms.count == 1 ? terms[0] : "(\(terms.joined(separator: word)))"
    }

    static let longestChain = 200

    // MARK: Comparisons

    private mutating func comparison(
        _ keyPath: String, _ operation: FetchPredicate.Operator, _ operand: FetchPredicate.Operand,
        _ options: TextOptions
    ) throws(StoreError) -> String {
        switch (try resolve(keyPath), operand) {
        case (.attribute(let column, _), .null), (.toOne(let column, _), .null):
            switch operation {
            case .equalTo: return " \(column) IS NULL"
            case .notEqualTo: return " \(column) IS NOT NULL"
            default: throw invalid("'\(keyPath)' can only be equal or unequal to nil, not \(operation.rawValue).")
            }
        case (.attribute(let column, let property), .value(let value)):
            try check(property, keyPath, value)
            if operation.isText || !options.isEmpty {
                return try textComparison(column, keyPath, property, operation, value, options)
            }
            values.append(SQLValue(value))
            switch operation {
            case .notEqualTo where property.isOptional || column.hasPrefix("t0.") == false:
                // What has no value is unequal to every value.
                return "( \(column) <> ? OR  \(column) IS NULL)"
            case .notEqualTo: return " \(column) <> ?"
            case .equalTo: return " \(column) = ?"
            default: return " \(column) \(operation.rawValue) ?"
            }
        case (.toOne(let column, let property), .object(let id)):
            try check(property, keyPath, id)
            values.append(.integer(key(of: id, root: model.entities[property.destination].root)))
            switch operation {
            case .equalTo: return " \(column) = ?"
            case .notEqualTo: return "( \(column) <> ? OR  \(column) IS NULL)"
            default: throw invalid("'\(keyPath)' can only be equal or unequal to an object, not \(operation.rawValue).")
            }
        case (.object, .object(let id)):
            values.append(.integer(key(of: id, root: entity.schema.root)))
            switch operation {
            case .equalTo: return " t0.Z_PK = ?"
            case .notEqualTo: return " t0.Z_PK <> ?"
            default: throw invalid("an object can only be equal or unequal to another, not \(operation.rawValue).")
            }
        case (.object, _): throw invalid("'\(keyPath)' can only be compared with objects.")
        case (.toOne, .value): throw invalid("'\(keyPath)' is a relationship and can only be compared with objects.")
        case (.attribute, .object):
            throw invalid("'\(keyPath)' is an attribute and cannot be compared with an object.")
        }
    }

    private mutating func textComparison(
        _ column: String, _ keyPath: String, _ property: PropertySchema, _ operation: FetchPredicate.Operator,
        _ value: AttributeValue, _ options: TextOptions
    ) throws(StoreError) -> String {
        guard case .string(let text) = value, property.attributeType == .string || property.attributeType == .uri else {
            throw invalid(
                "'\(keyPath)' cannot be compared by \(operation.rawValue)\(options.suffix), which is for text.")
        }
        func search(_ more: TextOptions) -> String {
            " NSCoreDataStringSearch( \(column), ?, \(options.union(more).rawValue), 0)"
        }
        if operation == .beginsWith, options.isEmpty {
            // Every text begins with nothing.
            if text.isEmpty { return " \(column) IS NOT NULL" }
            if let end = Self.successor(ofPrefix: text) {
                // A range, so that an index over the column serves it.
                values.append(.text(text))
                values.append(.text(end))
                return "( \(column) >= ? AND  \(column) < ?)"
            }
        }
        if operation == .matches, (try? NSRegularExpression(pattern: text)) == nil {
            throw invalid("\"\(text)\" is no regular expression; correct it.")
        }
        values.append(.text(text))
        switch operation {
        case .beginsWith: return search(.anchored)
        case .endsWith: return search([.anchored, .backwards])
        case .contains: return search([])
        case .like: return " FaultlineStringLike( \(column), ?, \(options.rawValue))"
        case .matches: return " FaultlineStringMatch( \(column), ?, \(options.rawValue))"
        case .equalTo: return " FaultlineStringCompare( \(column), ?, \(options.rawValue)) = 0"
        case .notEqualTo:
            return " IFNULL(FaultlineStringCompare( \(column), ?, \(options.rawValue)), 1) <> 0"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return " FaultlineStringCompare( \(column), ?, \(options.rawValue)) \(operation.rawValue) 0"
        }
    }

    /// The first text that is behind every text with the prefix; `nil` if there is none.
    static func successor(ofPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Behind U+D7FF come the surrogates, which are no text.
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return String(text)
        }
        return nil
    }

    // MARK: Lists

    private mutating func membership(
        _ keyPath: String, _ operands: [FetchPredicate.Operand]
    ) throws(StoreError) -> String {
        let column: String
        let root: Int
        switch try resolve(keyPath) {
        case .attribute(let name, let property):
            guard !operands.isEmpty else { return " 1 = 0" }
            var list: [SQLValue] = []
            for operand in operands {
                guard case .value(let value) = operand else {
                    throw invalid("'\(keyPath)' is an attribute and cannot be compared with an object.")
                }
                try check(property, keyPath, value)
                list.append(SQLValue(value))
            }
            if list.count > Self.longestList {
                lists.append(list)
                return " \(name) IN (SELECT * FROM _Z_valuearray\(lists.count - 1))"
            }
            // Lists are filled up to a few lengths by saying their last value again, so that there are few statements.
            let length = Self.paddedLength(list.count)
            list += Array(repeating: list[list.count - 1], count: length - list.count)
            values += list
            return " \(name) IN (\(Array(repeating: "?", count: length).joined(separator: ", ")))"
        case .toOne(let name, let property):
            for case .object(let id) in operands { try check(property, keyPath, id) }
            column = name
            root = model.entities[property.destination].root
        case .object:
            column = "t0.Z_PK"
            root = entity.schema.root
        }
        var keys: [Int64] = []
        for operand in operands {
            guard case .object(let id) = operand else {
                throw invalid("'\(keyPath)' can only be compared with objects.")
            }
            let key = key(of: id, root: root)
            if key > 0 { keys.append(key) }
        }
        arrays.append(keys)
        return " \(column) IN (SELECT * FROM _Z_intarray\(arrays.count - 1))"
    }

    /// The key of an object as one of a tree's; -1, which no row has, for objects of other trees or stores and for such
    /// as were not saved yet.
    private func key(of id: ManagedObjectID, root: Int) -> Int64 {
        id.store === store && id.entity.root == root && id.key > 0 ? id.key : -1
    }

    /// From how many values on they are bound as a table: SQLite takes only so many parameters
    /// (https://www.sqlite.org/limits.html#max_variable_number).
    static let longestList = 5000

    static func paddedLength(_ count: Int) -> Int {
        for length in [1, 2, 5, 10, 20, 50, 100] where count <= length { return length }
        var length = 200
        while length < count { length *= 2 }
        return length
    }

    // MARK: Checks

    private mutating func attribute(
        _ keyPath: String, comparedWith values: [AttributeValue]
    ) throws(StoreError) -> String {
        guard case .attribute(let column, let property) = try resolve(keyPath) else {
            throw invalid("'\(keyPath)' is no attribute and has no order.")
        }
        for value in values { try check(property, keyPath, value) }
        return column
    }

    private func check(_ property: PropertySchema, _ keyPath: String, _ value: AttributeValue) throws(StoreError) {
        let fits =
            switch (property.attributeType, value) {
            case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer), (.boolean, .boolean),
                (.boolean, .integer), (.integer16, .double), (.integer32, .double), (.integer64, .double),
                (.integer16, .boolean), (.integer32, .boolean), (.integer64, .boolean), (.integer16, .decimal),
                (.integer32, .decimal), (.integer64, .decimal), (.double, .double), (.double, .integer),
                (.float, .double),
                (.float, .integer), (.decimal, .decimal), (.decimal, .integer), (.decimal, .double), (.string, .string),
                (.uri, .uri), (.uri, .string), (.date, .date), (.uuid, .uuid), (.binary, .binary),
                (.transformable, .binary):
                true
            default: false
            }
        guard fits else {
            throw invalid(
                "'\(keyPath)' of type \(property.attributeType?.rawValue ?? "") cannot be compared with \(value); compare it with a value of its type."
            )
        }
    }

    private func check(_ property: PropertySchema, _ keyPath: String, _ id: ManagedObjectID) throws(StoreError) {
        let destination = model.entities[property.destination]
        guard id.entity.root == destination.root else {
            throw invalid(
                "'\(keyPath)' leads to \(destination.name) and cannot be compared with an object of \(id.entityName).")
        }
    }
}

extension FetchPredicate.Node {
    /// The terms of a conjunction or a disjunction, in their order.
    ///
    /// What was written by `&&` or `||` one by one is a chain; a long one counts as one list of terms, because SQLite
    /// takes only so many parentheses in one another.
    var terms: [FetchPredicate.Node] {
        guard let nodes = parts(like: self) else { return [self] }
        var found: [FetchPredicate.Node] = []
        // From the last to the first, without recursion: a chain may be longer than the stack is deep.
        var waiting = nodes
        while let node = waiting.popLast() {
            if let nested = node.parts(like: self) { waiting += nested } else { found.append(node) }
        }
        return found.count > SQLGenerator.longestChain / 2 ? found.reversed() : nodes
    }

    private func parts(like other: FetchPredicate.Node) -> [FetchPredicate.Node]? {
        switch (self, other) {
        case (.and(let nodes), .and), (.or(let nodes), .or): nodes
        default: nil
        }
    }
}
