import FaultlineModel

extension SQLGenerator {
    /// Whether a value is in a list, among the objects of a to-many relationship, or part of a string.
    mutating func membership(
        _ left: SQLOperand, _ comparison: FetchPredicate.Comparison
    ) throws(StoreError) -> String {
        switch comparison.right {
        case .list(let elements):
            guard comparison.options.isEmpty else {
                return try textMembership(left, elements, comparison.options)
            }
            // A missing value is in no list, even if the list contains nil.
            let elements = elements.filter { $0 != .null }
            guard elements.allSatisfy(\.isConstant) else { return try expressionMembership(left, elements) }
            switch left.type {
            case .attribute: return try valueMembership(left, elements)
            case .object(let entity): return try objectMembership(left, elements, entity)
            }
        case .path(let path) where isCollection(path):
            return try contains(
                path,
                { (generator, element) throws(StoreError) in
                    if case .object = element.type {
                        guard case .object = left.type else {
                            throw generator.invalid(
                                "'\(element.text)' contains objects and can be searched only for objects.")
                        }
                    } else {
                        try generator.check(element, left)
                    }
                    return "\(element.sql) = \(left.sql)"
                }, isFirst: true)
        default:
            guard left.attributeType?.domain == .text else {
                throw invalid(
                    "IN needs a list, a to-many relationship or a string that can contain '\(left.text)', and '\(comparison.right.text(values: false))' is none of these; write {…}."
                )
            }
            let right = try operand(comparison.right, comparedWith: left)
            guard right.attributeType?.domain == .text else {
                throw invalid(
                    "IN needs a list, a to-many relationship or a string, and '\(right.text)' is none of these; write {…}."
                )
            }
            return Self.search(right.sql, left.sql, comparison.options)
        }
    }

    private mutating func valueMembership(
        _ left: SQLOperand, _ elements: [FetchExpression.Node]
    ) throws(StoreError) -> String {
        guard !elements.isEmpty else { return " 1 = 0" }
        var list: [SQLValue] = []
        for element in elements {
            guard case .value(let value) = element else {
                throw invalid("'\(left.text)' is an attribute and cannot be compared with an object.")
            }
            let converted = Self.constant(value, comparedWith: left)
            try check(
                left,
                SQLOperand(sql: "?", type: .attribute(converted.type), isOptional: false, constant: converted, text: "")
            )
            list.append(SQLValue(converted))
        }
        if list.count > Self.longestList {
            lists.append(list)
            return "\(left.sql) IN (SELECT * FROM _Z_valuearray\(lists.count - 1))"
        }
        // Repeats the last value to reach one of a few lengths, which limits the number of different statements.
        let length = Self.paddedLength(list.count)
        list += Array(repeating: list[list.count - 1], count: length - list.count)
        values += list
        return "\(left.sql) IN (\(Array(repeating: "?", count: length).joined(separator: ", ")))"
    }

    private mutating func objectMembership(
        _ left: SQLOperand, _ elements: [FetchExpression.Node], _ entity: EntitySchema
    ) throws(StoreError) -> String {
        var keys: [Int64] = []
        for element in elements {
            guard case .object(let id) = element else {
                throw invalid("'\(left.text)' can only be compared with objects.")
            }
            guard left.property == nil || id.entity.root == entity.root else {
                throw invalid(
                    "'\(left.text)' refers to \(entity.name) and cannot be compared with an object of \(id.entityName)."
                )
            }
            let key = key(of: id, root: entity.root)
            if key > 0 { keys.append(key) }
        }
        arrays.append(keys)
        return "\(left.sql) IN (SELECT * FROM _Z_intarray\(arrays.count - 1))"
    }

    private mutating func expressionMembership(
        _ left: SQLOperand, _ elements: [FetchExpression.Node]
    ) throws(StoreError) -> String {
        var list: [String] = []
        for element in elements {
            let right = try operand(element, comparedWith: left)
            if case (.object(let one), .object(let other)) = (left.type, right.type) {
                guard one.root == other.root else {
                    throw invalid(
                        "'\(left.text)' refers to \(one.name) and cannot be compared with an object of \(other.name).")
                }
            } else {
                try check(left, right)
            }
            list.append(right.sql)
        }
        return "\(left.sql) IN (\(list.joined(separator: ", ")))"
    }

    /// Whether a string is one of several, ignoring case or diacritics.
    private mutating func textMembership(
        _ left: SQLOperand, _ elements: [FetchExpression.Node], _ options: TextOptions
    ) throws(StoreError) -> String {
        guard left.property != nil || elements.count == 1 else {
            throw invalid(
                "'\(left.text)' is computed and cannot be searched for by IN\(options.suffix); compare it with each value, and join the comparisons with OR."
            )
        }
        guard !elements.isEmpty else { return " 1 = 0" }
        var terms: [String] = []
        for element in elements { terms.append(try textComparison(left, .equalTo, element, options)) }
        return Self.chain(terms, " OR ")
    }

    /// The key of an object in an inheritance tree; -1, which no row has, if there is none.
    ///
    /// Objects of other trees or stores, and objects that have not been saved, have none.
    func key(of id: ManagedObjectID, root: Int) -> Int64 {
        id.store === store && id.entity.root == root && id.key > 0 ? id.key : -1
    }

    /// The maximum number of values to bind as parameters; longer lists are bound as a table.
    ///
    /// SQLite limits the number of parameters (https://www.sqlite.org/limits.html#max_variable_number).
    static let longestList = 5000

    static func paddedLength(_ count: Int) -> Int {
        for length in [1, 2, 5, 10, 20, 50, 100] where count <= length { return length }
        var length = 200
        while length < count { length *= 2 }
        return length
    }
}
