import CSQLite
import FaultlineModel
import Foundation

/// A column of a dictionary result: under which key its value goes, and how it is read.
struct ExpressionColumn {
    var name: String
    /// As it stands in the SELECT.
    var sql: String
    var type: AttributeType

    /// The value in the row that a statement stands on; `nil`: there is none.
    func value(_ statement: OpaquePointer, _ column: Int32) -> AttributeValue? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
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
        // Asked for first, as with text.
        let bytes = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return bytes.map { Data(bytes: $0, count: count) } ?? Data()
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        // Asked for first: it may convert the value, which changes its length.
        let bytes = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

extension SQLGenerator {
    /// The columns of a dictionary result, in the order of the request's properties.
    mutating func expressionColumns() throws(StoreError) -> [ExpressionColumn] {
        guard !terms.expressions.isEmpty else {
            throw invalid("a dictionary holds what propertiesToFetch names, which is nothing; add an expression.")
        }
        guard terms.limit == 0, terms.offset == 0 else {
            throw invalid(
                "fetchLimit and fetchOffset cut off dictionaries, of which functions give one; leave them out.")
        }
        var names: Set<String> = []
        var columns: [ExpressionColumn] = []
        for description in terms.expressions {
            guard !description.name.isEmpty else {
                throw invalid("\(description.expression) has no name to be found by in the dictionary; give it one.")
            }
            guard names.insert(description.name).inserted else {
                throw invalid("two of propertiesToFetch are named '\(description.name)'; give each a name of its own.")
            }
            columns.append(try column(description.name, description.expression))
        }
        return columns
    }

    private mutating func column(
        _ name: String, _ expression: FetchExpression
    ) throws(StoreError) -> ExpressionColumn {
        guard case .aggregate(let function, .path(let path)) = expression.node else {
            let operand = try operand(expression.node)
            guard let type = operand.attributeType else {
                throw invalid("'\(operand.text)' is an object and no value; name an attribute of it.")
            }
            return ExpressionColumn(name: name, sql: operand.sql, type: type)
        }
        if isCollection(path) { return try column(name, function, over: path) }
        let text = path.text(values: false)
        switch try walk(path.names, in: try scope(of: path), path) {
        case .object(_, _, nil):
            throw invalid("\(function.rawValue) is for attributes, and '\(text)' is the object itself.")
        case .object:
            throw invalid(
                "\(function.rawValue) is for attributes, and '\(text)' is a relationship; name an attribute of its destination."
            )
        case .collection: throw manyObjects(path)
        case .attribute(let column, let property, _):
            return ExpressionColumn(
                name: name, sql: "\(function.sql)( \(column))", type: try resultType(function, property, text))
        }
    }

    /// A function over what lies behind a to-many relationship of all objects: over what it gives for each of them, so
    /// that no join multiplies what other columns are worked out of.
    private mutating func column(
        _ name: String, _ function: FetchExpression.Function, over path: FetchPath
    ) throws(StoreError) -> ExpressionColumn {
        let text = path.text(values: false)
        let sql: String
        let one: SQLOperand
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
        return ExpressionColumn(name: name, sql: sql, type: one.attributeType ?? .integer64)
    }

    /// The type of a function's value over an attribute.
    func resultType(
        _ function: FetchExpression.Function, _ property: PropertySchema, _ text: String
    ) throws(StoreError) -> AttributeType {
        guard let type = function.resultType(of: property.attributeType ?? .undefined) else {
            throw invalid(
                "\(function.rawValue) is for \(function.domain), and '\(text)' is of type \(property.attributeType?.rawValue ?? ""); name another attribute."
            )
        }
        return type
    }
}

extension FetchExpression.Function {
    /// The function in SQLite.
    ///
    /// `total` is `sum` that neither overflows nor is NULL of nothing (https://www.sqlite.org/lang_aggfunc.html#sumunc).
    var sql: String {
        switch self {
        case .sum: "total"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .count: "COUNT"
        }
    }

    /// The collection operator's name without its sign.
    var word: String {
        switch self {
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .count: "count"
        }
    }

    /// What the function can be asked of.
    fileprivate var domain: String {
        switch self {
        case .sum, .average: "numbers"
        case .minimum, .maximum: "numbers, dates and text"
        case .count: "values"
        }
    }

    /// The type of the function's value over attributes of a type; `nil`: it has none.
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
