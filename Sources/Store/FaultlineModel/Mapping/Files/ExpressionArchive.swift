internal import Foundation

/// Reads the expressions of a mapping model's file, which are keyed archives of `NSExpression`.
struct ExpressionArchive {
    /// Limits far above any real expression.
    enum Limit {
        static let depth = 100
        static let expressions = 10_000
    }

    private let archive: KeyedArchive
    private var count = 0

    /// - Throws: ``ArchiveFailure`` if the data is not an archive, or has an expression that mapping models cannot have.
    static func expression(_ data: Data) throws(ArchiveFailure) -> MappingExpression {
        var reader = Self(archive: try KeyedArchive(data, limit: PropertyListValue.Limit.expression))
        return try reader.expression(reader.archive.root, depth: 0)
    }

    private init(archive: KeyedArchive) {
        self.archive = archive
    }

    private mutating func expression(
        _ value: PropertyListValue?, depth: Int
    ) throws(ArchiveFailure) -> MappingExpression {
        count += 1
        guard depth < Limit.depth else {
            throw ArchiveFailure("nests expressions more than \(Limit.depth) levels deep, or one contains itself")
        }
        guard count <= Limit.expressions else { throw ArchiveFailure("has more than \(Limit.expressions) expressions") }
        let object = try archive.object(value)
        switch try archive.className(object) {
        case "NSConstantValueExpression": return try constant(object)
        case "NSVariableExpression":
            let name = try archive.string(object["NSVariable"])
            guard let variable = MappingExpression.Variable(rawValue: name) else {
                throw ArchiveFailure(
                    "has the variable '$\(name)', which is not one of \(MappingExpression.Variable.list)")
            }
            return .variable(variable)
        case "NSKeyPathExpression", "NSFunctionExpression": return try function(object, depth: depth)
        case let other: throw ArchiveFailure("has an expression of the class '\(other)', which is not supported")
        }
    }

    private mutating func function(
        _ object: KeyedArchive.Object, depth: Int
    ) throws(ArchiveFailure) -> MappingExpression {
        let selector = try archive.string(object["NSSelectorName"])
        let arguments = try archive.list(object["NSArguments"])
        if selector == "valueForKeyPath:", arguments.count == 1, let path = try keyPath(arguments[0]) {
            return .keyPath(try expression(object["NSOperand"], depth: depth + 1), path)
        }
        var values: [MappingExpression] = []
        for argument in arguments { values.append(try expression(argument, depth: depth + 1)) }
        // The archive of a cast is a call of a private function.
        if selector == "castObject:toType:", values.count == 2, case .constant(.string(let type)) = values[1] {
            return .cast(values[0], type: type)
        }
        return .function(try expression(object["NSOperand"], depth: depth + 1), selector: selector, values)
    }

    /// Returns the key path that an argument specifies, or `nil` if it is another expression.
    private func keyPath(_ value: PropertyListValue) throws(ArchiveFailure) -> String? {
        let object = try archive.object(value)
        guard try archive.className(object) == "NSKeyPathSpecifierExpression" else { return nil }
        let path = try archive.string(object["NSKeyPath"])
        guard !path.isEmpty else { throw ArchiveFailure("has an empty key path") }
        return path
    }

    private func constant(_ object: KeyedArchive.Object) throws(ArchiveFailure) -> MappingExpression {
        if let name = object["NSConstantValueClassName"] {
            return .cast(.constant(.string(try archive.string(name))), type: "Class")
        }
        switch try archive.resolve(object["NSConstantValue"]) {
        case .null, .string("$null"): return .constant(nil)
        case .boolean(let isTrue): return .constant(.boolean(isTrue))
        case .integer(let number): return .constant(.integer(number))
        case .real(let number): return .constant(.double(number))
        case .date(let date): return .constant(.date(date))
        case .data(let data): return .constant(.binary(data))
        case .string(let text): return .constant(.string(text))
        case .dictionary(let object): return .constant(try value(of: object))
        case .unsigned, .array, .reference: throw ArchiveFailure("has a constant that is not a value")
        }
    }

    /// Returns the value of an object that is not a plain value in a property list.
    private func value(of object: KeyedArchive.Object) throws(ArchiveFailure) -> AttributeValue? {
        switch (try archive.className(object), object) {
        case ("NSNull", _): return nil
        case ("NSDate", let object):
            if case .real(let seconds) = try archive.resolve(object["NS.time"]) {
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            }
        case ("NSMutableString", let object), ("NSString", let object):
            return .string(try archive.string(object["NS.string"]))
        case ("NSMutableData", let object), ("NSData", let object):
            if case .data(let data) = try archive.resolve(object["NS.data"]) { return .binary(data) }
        case ("NSUUID", let object):
            if case .data(let data) = try archive.resolve(object["NS.uuidbytes"]), data.count == 16 {
                return .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
            }
        default: break
        }
        throw ArchiveFailure("has a constant of the class '\(try archive.className(object))', which is not supported")
    }
}
