import FaultlineModel
import Foundation

extension SQLGenerator {
    /// Translates an expression; its values are bound in the order of the text.
    mutating func operand(
        _ node: FetchExpression.Node, comparedWith other: FetchExpression.Node
    ) throws(StoreError) -> SQLOperand {
        // A string that is compared with a UUID is parsed as one.
        if case .value(.string) = node, case .path = other, let property = property(other) {
            let side = SQLOperand(
                sql: "", type: .attribute(property.attributeType ?? .undefined), isOptional: true, text: "")
            return try operand(node, comparedWith: side)
        }
        return try operand(node)
    }

    private func property(_ node: FetchExpression.Node) -> PropertySchema? {
        guard case .path(let path) = node, path.root == .object, path.names.count == 1 else { return nil }
        return entity.schema.property(path.names[0])
    }

    /// Translates an expression.
    ///
    /// - Parameter other: The other side, whose type a constant adopts if possible.
    mutating func operand(
        _ node: FetchExpression.Node, comparedWith other: SQLOperand
    ) throws(StoreError) -> SQLOperand {
        switch node {
        case .value(let value): return bind(Self.constant(value, comparedWith: other))
        case .object(let id):
            guard case .object(let entity) = other.type else { return try operand(node) }
            // Compared with an object itself, an object of another tree is simply different; a relationship cannot
            // refer to it.
            let isOther = id.entity.root != entity.root && other.property == nil
            values.append(.integer(key(of: id, root: entity.root)))
            return SQLOperand(
                sql: "?", type: .object(isOther ? entity : id.entity), isOptional: false, text: id.description)
        default: return try operand(node)
        }
    }

    /// Converts a constant to the type of the other side, if it has an equivalent there.
    static func constant(_ value: AttributeValue, comparedWith other: SQLOperand) -> AttributeValue {
        guard case .string(let text) = value, other.attributeType == .uuid, let uuid = UUID(uuidString: text) else {
            return value
        }
        return .uuid(uuid)
    }

    private mutating func bind(_ value: AttributeValue) -> SQLOperand {
        values.append(SQLValue(value))
        return SQLOperand(
            sql: "?", type: .attribute(value.type), isOptional: false, constant: value, text: value.description)
    }

    mutating func operand(_ node: FetchExpression.Node) throws(StoreError) -> SQLOperand {
        switch node {
        case .value(let value): return bind(value)
        case .null:
            throw invalid("nil is allowed only on the right of == and !=; write 'property == nil'.")
        case .object(let id):
            values.append(.integer(key(of: id, root: id.entity.root)))
            return SQLOperand(sql: "?", type: .object(id.entity), isOptional: false, text: id.description)
        case .list:
            throw invalid("a list is allowed only on the right of IN and BETWEEN; compare with one value.")
        case .path(let path):
            if let (collection, name, names) = path.collectionOperator {
                return try collectionValue(path, collection, name, names)
            }
            if isCollection(path) {
                guard multipliesRows, path.root == .object else { throw manyObjects(path) }
                return operand(try walk(path.names, in: 0, path, multiplies: true), path)
            }
            return operand(try walk(path.names, in: try scope(of: path), path), path)
        case .aggregate(let function, let node) where worksOverGroups: return try groupValue(function, node)
        case .aggregate(let function, .path(let path)) where isCollection(path):
            return try aggregate(function, path, [], path.text(values: false))
        case .aggregate(let function, _):
            throw invalid(
                "'\(node.text(values: false))' aggregates all objects of a fetch; in a predicate, \(function.rawValue) takes a key path through a to-many relationship."
            )
        case .function(let function, let arguments): return try call(function, arguments, node)
        case .conditional(let predicate, let first, let second):
            let condition = try conditionOfOneRow(predicate)
            let (one, other) = (try operand(first), try operand(second))
            try check(one, other)
            return SQLOperand(
                sql: "CASE WHEN\(condition) THEN \(one.sql) ELSE \(other.sql) END", type: one.type,
                isOptional: one.isOptional || other.isOptional, text: node.text(values: false))
        }
    }

    func operand(_ target: SQLTarget, _ path: FetchPath) -> SQLOperand {
        let text = path.text(values: false)
        switch target {
        case .attribute(let column, let property, let isOptional):
            return SQLOperand(
                sql: " \(column)", type: .attribute(property.attributeType ?? .undefined), isOptional: isOptional,
                property: property,
                canonical: property.canonicalColumn.map { " \(column.dropLast(property.column.count))\($0)" },
                text: text)
        case .object(let key, let entity, let property):
            return SQLOperand(
                sql: " \(key)", type: .object(entity), isOptional: property != nil, property: property, text: text)
        case .collection: incorrectUse("A collection is not an operand.")
        }
    }

    // MARK: - Functions

    private mutating func call(
        _ function: ScalarFunction, _ nodes: [FetchExpression.Node], _ node: FetchExpression.Node
    ) throws(StoreError) -> SQLOperand {
        let text = node.text(values: false)
        if function == .now {
            values.append(SQLValue(.date(now)))
            return SQLOperand(sql: "?", type: .attribute(.date), isOptional: false, text: text)
        }
        var arguments: [SQLOperand] = []
        for node in nodes { arguments.append(try operand(node)) }
        let types = arguments.map { $0.attributeType }
        guard let type = function.resultType(of: types.map { $0 ?? .undefined }) else {
            let wrong = arguments.first { !function.takes($0.attributeType ?? .undefined) } ?? arguments[0]
            throw invalid(
                "\(function.rawValue) takes \(function.domain), but '\(wrong.text)' is \(wrong.typeText); name another attribute."
            )
        }
        let isReal = types.contains(.decimal)
        let sql = function.sql(arguments.map(\.sql), isReal: isReal)
        // Outside their domain, functions have no value.
        return SQLOperand(sql: sql, type: .attribute(type), isOptional: true, text: text)
    }
}

extension ScalarFunction {
    /// The function call in SQLite.
    ///
    /// - Parameter isReal: Whether integers among the arguments are decimals, which SQLite would divide as integers.
    fileprivate func sql(_ arguments: [String], isReal: Bool) -> String {
        switch self {
        case .add: "(\(arguments[0]) + \(arguments[1]))"
        case .subtract: "(\(arguments[0]) - \(arguments[1]))"
        case .multiply: "(\(arguments[0]) * \(arguments[1]))"
        case .divide: "(\(arguments[0])\(isReal ? " * 1.0" : "") / \(arguments[1]))"
        case .modulus: "(\(arguments[0]) % \(arguments[1]))"
        case .negate: "(-\(arguments[0]))"
        case .bitwiseAnd: "(\(arguments[0]) & \(arguments[1]))"
        case .bitwiseOr: "(\(arguments[0]) | \(arguments[1]))"
        case .bitwiseXor: "FaultlineExclusiveOr(\(arguments[0]), \(arguments[1]))"
        case .leftShift: "(\(arguments[0]) << \(arguments[1]))"
        case .rightShift: "(\(arguments[0]) >> \(arguments[1]))"
        case .onesComplement: "(~\(arguments[0]))"
        case .power: "pow(\(arguments[0]), \(arguments[1]))"
        case .absoluteValue: "abs(\(arguments[0]))"
        case .squareRoot: "sqrt(\(arguments[0]))"
        case .logarithm: "log10(\(arguments[0]))"
        case .naturalLogarithm: "ln(\(arguments[0]))"
        case .exponential: "exp(\(arguments[0]))"
        case .ceiling: "ceil(\(arguments[0]))"
        case .floor: "floor(\(arguments[0]))"
        case .truncate: "trunc(\(arguments[0]))"
        case .uppercase: "FaultlineUppercase(\(arguments[0]))"
        case .lowercase: "FaultlineLowercase(\(arguments[0]))"
        case .canonical: "FaultlineCanonical(\(arguments[0]))"
        case .length: "FaultlineLength(\(arguments[0]))"
        case .now: "?"
        case .castToDate, .castToNumber: arguments[0]
        }
    }

    /// The values that the function accepts, in words.
    fileprivate var domain: String {
        switch self {
        case .uppercase, .lowercase, .canonical, .length: "text"
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: "integers"
        case .add, .subtract, .castToDate, .castToNumber: "numbers and dates"
        default: "numbers"
        }
    }

    fileprivate func takes(_ type: AttributeType) -> Bool {
        switch self {
        case .uppercase, .lowercase, .canonical, .length: type.domain == .text
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: type.isInteger
        case .add, .subtract, .castToDate, .castToNumber: type.domain == .number || type.domain == .date
        default: type.domain == .number
        }
    }

    /// The type of the function's value; `nil` if it does not accept the arguments.
    func resultType(of types: [AttributeType]) -> AttributeType? {
        guard types.allSatisfy(takes) else { return nil }
        switch self {
        case .uppercase, .lowercase, .canonical: return .string
        case .length: return .integer64
        case .now, .castToDate: return .date
        case .castToNumber: return types[0] == .date ? .double : types[0]
        case .add:
            if types.allSatisfy({ $0 == .date }) { return nil }
            return types.contains(.date) ? .date : Self.common(types)
        case .subtract:
            if types[1] == .date { return types[0] == .date ? .double : nil }
            return types[0] == .date ? .date : Self.common(types)
        case .multiply, .divide, .modulus, .negate, .absoluteValue, .ceiling, .floor, .truncate:
            return Self.common(types)
        case .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential: return .double
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement: return .integer64
        }
    }

    /// The common type of numbers.
    private static func common(_ types: [AttributeType]) -> AttributeType {
        if types.contains(.decimal) { return .decimal }
        return types.allSatisfy(\.isInteger) ? .integer64 : .double
    }
}
