import CSQLite
import FaultlineModel
import Foundation

/// A column of a dictionary result: its key, and how it is read.
struct ExpressionColumn {
    var name: String
    /// The column's text in the SELECT.
    var sql: String
    var type: AttributeType
    /// The entity and store of the object, if the value is an object's key.
    var object: (entity: EntitySchema, store: PersistentStore)?
    /// Whether there is one value for each group of objects, rather than for each object.
    var isAggregate = false

    /// The value in a statement's current row; `nil` if there is none.
    func value(_ statement: OpaquePointer, _ column: Int32) -> AttributeValue? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        if let (entity, store) = object {
            let id = ManagedObjectID(store: store, entity: entity, key: sqlite3_column_int64(statement, column))
            return .uri(id.uriRepresentation())
        }
        switch type {
        case .integer16, .integer32, .integer64: return .integer(sqlite3_column_int64(statement, column))
        case .boolean: return .boolean(sqlite3_column_int64(statement, column) != 0)
        case .double, .float: return .double(sqlite3_column_double(statement, column))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, column)))
        case .decimal: return Decimal(string: Self.text(statement, column)).map { .decimal($0) }
        case .string: return .string(Self.text(statement, column))
        case .uri: return URL(string: Self.text(statement, column)).map { .uri($0) }
        case .binary, .transformable: return .binary(Self.bytes(statement, column))
        case .uuid:
            let bytes = Self.bytes(statement, column)
            guard bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case .undefined, .composite: return nil
        }
    }

    private static func bytes(_ statement: OpaquePointer, _ column: Int32) -> Data {
        // Before the size, as with text.
        let bytes = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return bytes.map { Data(bytes: $0, count: count) } ?? Data()
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        // Before the size, because it may convert the value and change its length.
        let bytes = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

extension SQLGenerator {
    /// The columns of a dictionary result, in the order of the request's properties.
    mutating func expressionColumns() throws(StoreError) -> [ExpressionColumn] {
        guard !terms.expressions.isEmpty else {
            throw invalid("propertiesToFetch is empty, so the dictionaries would be too; add an expression.")
        }
        var names: Set<String> = []
        var columns: [ExpressionColumn] = []
        let isPerObject = terms.computesPerObject(entity.schema, model)
        (worksOverGroups, multipliesRows) = (!isPerObject, true)
        defer { (worksOverGroups, multipliesRows) = (false, false) }
        for description in terms.expressions {
            guard !description.name.isEmpty else {
                throw invalid(
                    "\(description.expression) has no name to serve as its key in the dictionary; give it one.")
            }
            guard names.insert(description.name).inserted else {
                throw invalid(
                    "two expressions in propertiesToFetch are named '\(description.name)'; give each a unique name.")
            }
            var column = try column(description.name, description.expression)
            column.type = description.resultType ?? column.type
            if isPerObject { column.isAggregate = false }
            columns.append(column)
        }
        try checkGroups(columns)
        return columns
    }

    private mutating func column(
        _ name: String, _ expression: FetchExpression
    ) throws(StoreError) -> ExpressionColumn {
        let operand = try operand(expression.node)
        let isAggregate = expression.node.isAggregate
        switch operand.type {
        case .attribute(let type):
            return ExpressionColumn(name: name, sql: operand.sql, type: type, isAggregate: isAggregate)
        case .object(let entity):
            return ExpressionColumn(
                name: name, sql: operand.sql, type: .uri, object: (entity, store), isAggregate: isAggregate)
        }
    }

    /// Checks that every column has one value for each row of the result.
    private func checkGroups(_ columns: [ExpressionColumn]) throws(StoreError) {
        guard !terms.groups.isEmpty || columns.contains(where: \.isAggregate) else {
            guard terms.having == nil else {
                throw invalid("havingPredicate selects groups, but there are none; set propertiesToGroupBy.")
            }
            return
        }
        let groups = Set(terms.groups)
        for (description, column) in zip(terms.expressions, columns) where !column.isAggregate {
            let text = description.expression.description
            guard groups.contains(description.name) || groups.contains(text) else {
                throw invalid(
                    "'\(text)' has a value for each object, but the others have one for each group; add it to propertiesToGroupBy, or remove it."
                )
            }
        }
        guard terms.groups.isEmpty, terms.limit > 0 || terms.offset > 0 else { return }
        var remedy = "remove them"
        if terms.expressions.allSatisfy({ terms.isPerObject($0.expression.node, entity.schema, model) }) {
            remedy += ", or add 'self' to propertiesToFetch for a dictionary of each object"
        }
        throw invalid(
            "fetchLimit and fetchOffset do not apply, because aggregate functions return a single dictionary; \(remedy)."
        )
    }

    /// The columns that a dictionary result is grouped by.
    mutating func groupColumns() throws(StoreError) -> [String] {
        multipliesRows = true
        defer { multipliesRows = false }
        var columns: [String] = []
        for name in terms.groups { columns.append(try namedColumn(name)) }
        return columns
    }

    /// The column with a name in ``FetchRequest/propertiesToFetch``, or else the property with that name.
    mutating func namedColumn(_ name: String) throws(StoreError) -> String {
        if form == .expressions, let position = terms.expressions.firstIndex(where: { $0.name == name }) {
            return " \(Self.alias(ofColumn: position))"
        }
        return try operand(.path(FetchPath(name))).sql
    }

    /// Names come from the program and must not become part of the SQL.
    static func alias(ofColumn position: Int) -> String { "c\(position)" }

    // MARK: - Functions over groups

    /// A function over all objects of a group.
    mutating func groupValue(
        _ function: FetchExpression.Function, _ node: FetchExpression.Node
    ) throws(StoreError) -> SQLOperand {
        if case .path(let path) = node, isCollection(path) { return try groupValue(function, over: path) }
        let text = node.text(values: false)
        let operand = try operand(node)
        guard case .attribute(let type) = operand.type else {
            guard function == .count else {
                throw invalid(
                    operand.property == nil
                        ? "\(function.rawValue) takes attributes, but '\(text)' is the object itself."
                        : "\(function.rawValue) takes attributes, but '\(text)' is a relationship; name an attribute of its destination."
                )
            }
            return SQLOperand(
                sql: "COUNT(\(operand.sql))", type: .attribute(.integer64), isOptional: false, text: text)
        }
        return SQLOperand(
            sql: "\(function.sql)(\(operand.sql))", type: .attribute(try resultType(function, type, text)),
            isOptional: function != .sum && function != .count, text: text)
    }

    /// A function over the objects of a to-many relationship of all objects in a group.
    ///
    /// Aggregates the values for each object, because a join would multiply the rows of other columns.
    private mutating func groupValue(
        _ function: FetchExpression.Function, over path: FetchPath
    ) throws(StoreError) -> SQLOperand {
        let text = path.text(values: false)
        let sql: String
        var one: SQLOperand
        switch function {
        case .count:
            one = try aggregate(.count, path, [], text)
            sql = "IFNULL(sum(\(one.sql)), 0)"
        case .average:
            one = try aggregate(.sum, path, [], text)
            let counts = try aggregate(.count, path, [], text)
            sql = "total(\(one.sql)) / NULLIF(sum(\(counts.sql)), 0)"
        case .sum, .minimum, .maximum:
            one = try aggregate(function, path, [], text)
            sql = "\(function.sql)(\(one.sql))"
        }
        one.sql = sql
        return one
    }

    /// The type of a function's value for an attribute.
    func resultType(
        _ function: FetchExpression.Function, _ attributeType: AttributeType, _ text: String
    ) throws(StoreError) -> AttributeType {
        guard let type = function.resultType(of: attributeType) else {
            throw invalid(
                "\(function.rawValue) takes \(function.domain), but '\(text)' is of type \(attributeType.rawValue); name another attribute."
            )
        }
        return type
    }
}

extension FetchExpression.Function {
    /// The function in SQLite.
    ///
    /// Unlike `sum`, `total` cannot overflow and is 0 for no rows (https://www.sqlite.org/lang_aggfunc.html#sumunc).
    var sql: String {
        switch self {
        case .sum: "total"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .count: "COUNT"
        }
    }

    /// The collection operator's name without its at sign.
    var word: String {
        switch self {
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .count: "count"
        }
    }

    /// The values that the function accepts, in words.
    fileprivate var domain: String {
        switch self {
        case .sum, .average: "numbers"
        case .minimum, .maximum: "numbers, dates and text"
        case .count: "values"
        }
    }

    /// The type of the function's value for attributes of a type; `nil` if it does not accept them.
    fileprivate func resultType(of type: AttributeType) -> AttributeType? {
        switch (self, type) {
        case (.count, _): .integer64
        case (.sum, .integer16), (.sum, .integer32), (.sum, .integer64), (.sum, .double), (.sum, .float),
            (.sum, .decimal):
            .double
        case (.average, _): Self.sum.resultType(of: type)
        case (.minimum, .date), (.minimum, .string): type
        case (.minimum, _): Self.sum.resultType(of: type) == nil ? nil : type
        case (.maximum, _): Self.minimum.resultType(of: type)
        case (.sum, _): nil
        }
    }
}

extension FetchTerms {
    /// Whether functions over a to-many relationship have a value for each object, rather than for each group.
    ///
    /// They do if another column has one, and no column has a value for a group.
    func computesPerObject(_ entity: EntitySchema, _ model: ModelSchema) -> Bool {
        groups.isEmpty && having == nil && expressions.contains { !$0.expression.node.isAggregate }
            && expressions.allSatisfy { isPerObject($0.expression.node, entity, model) }
    }

    /// Whether an expression can be computed for a single object.
    func isPerObject(_ node: FetchExpression.Node, _ entity: EntitySchema, _ model: ModelSchema) -> Bool {
        switch node {
        case .aggregate(_, .path(let path)):
            if case .subquery = path.root { return path.collectionOperator == nil }
            return path.isCollection(from: entity, model)
        case .aggregate: return false
        case .value, .null, .object, .path: return true
        case .list(let elements), .function(_, let elements):
            return elements.allSatisfy { isPerObject($0, entity, model) }
        case .conditional(_, let first, let second):
            return isPerObject(first, entity, model) && isPerObject(second, entity, model)
        }
    }
}

extension FetchExpression.Node {
    /// Whether it contains an aggregate function, which can have one value for a group of objects.
    var isAggregate: Bool {
        switch self {
        case .aggregate: true
        case .value, .null, .object, .path: false
        case .list(let elements), .function(_, let elements): elements.contains { $0.isAggregate }
        case .conditional(_, let first, let second): first.isAggregate || second.isAggregate
        }
    }
}
