package import FaultlineModel
package import Foundation

/// A value in a predicate, in a form that another process can read.
package indirect enum PredicateValue: Sendable, Hashable {
    case value(AttributeValue)
    /// The URI of an object's ID.
    case object(URL)
    case list([PredicateValue])

    /// Converts the value to a predicate argument for a coordinator; `nil` if the coordinator has no such object.
    package func argument(in coordinator: PersistentStoreCoordinator) -> (any FetchPredicateArgument)? {
        switch self {
        case .value(let value): return FetchExpression(.value(value))
        case .object(let url): return coordinator.managedObjectID(forURIRepresentation: url)
        case .list(let values):
            let arguments = values.compactMap { $0.argument(in: coordinator)?._predicateArgument }
            return arguments.count == values.count ? FetchExpression.list(arguments) : nil
        }
    }
}

// MARK: - As JSON

extension PredicateValue {
    /// Encodes values as JSON: an array of objects with one member each, named after the type.
    ///
    ///     [{"string":"Milk"},{"list":[{"integer":3},{"integer":4}]}]
    package static func text(_ values: [PredicateValue]) -> String? {
        let data = try? JSONSerialization.data(
            withJSONObject: values.map(\.json), options: [.sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Decodes the result of ``text(_:)``; `nil` for other texts.
    package static func values(_ text: String) -> [PredicateValue]? {
        guard let array = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any] else { return nil }
        let values = array.map { PredicateValue(json: $0, depth: 0) }
        return values.contains(nil) ? nil : values.compactMap(\.self)
    }

    private var json: [String: Any] {
        switch self {
        case .list(let values): ["list": values.map(\.json)]
        case .object(let url): ["object": url.absoluteString]
        case .value(.integer(let value)): ["integer": value]
        case .value(.decimal(let value)): ["decimal": "\(value)"]
        // JSON has no NaN or infinity.
        case .value(.double(let value)): value.isFinite ? ["double": value] : ["double": "\(value)"]
        case .value(.string(let value)): ["string": value]
        case .value(.boolean(let value)): ["boolean": value]
        case .value(.date(let value)): ["date": value.timeIntervalSinceReferenceDate]
        case .value(.binary(let value)): ["binary": value.base64EncodedString()]
        case .value(.uuid(let value)): ["uuid": value.uuidString]
        case .value(.uri(let value)): ["uri": value.absoluteString]
        }
    }

    private init?(json: Any, depth: Int) {
        guard let (name, value) = (json as? [String: Any])?.first, depth < 4 else { return nil }
        let text = value as? String
        let read: PredicateValue?
        switch name {
        case "list":
            let values = (value as? [Any])?.map { PredicateValue(json: $0, depth: depth + 1) }
            read = values.flatMap { $0.contains(nil) ? nil : .list($0.compactMap(\.self)) }
        case "object": read = text.flatMap { URL(string: $0) }.map { .object($0) }
        case "integer": read = (value as? NSNumber).map { .value(.integer($0.int64Value)) }
        case "decimal": read = text.flatMap { Decimal(string: $0) }.map { .value(.decimal($0)) }
        case "double":
            read = ((value as? NSNumber)?.doubleValue ?? text.flatMap { Double($0) }).map { .value(.double($0)) }
        case "string": read = text.map { .value(.string($0)) }
        case "boolean": read = (value as? Bool).map { .value(.boolean($0)) }
        case "date":
            read = (value as? NSNumber).map { .value(.date(Date(timeIntervalSinceReferenceDate: $0.doubleValue))) }
        case "binary": read = text.flatMap { Data(base64Encoded: $0) }.map { .value(.binary($0)) }
        case "uuid": read = text.flatMap { UUID(uuidString: $0) }.map { .value(.uuid($0)) }
        case "uri": read = text.flatMap { URL(string: $0) }.map { .value(.uri($0)) }
        default: read = nil
        }
        guard let read else { return nil }
        self = read
    }
}

extension FetchPredicate {
    /// The values, in the order of ``ShapePredicate/positions``; `nil` if one is in a position that a shape does not
    /// record.
    package var values: [PredicateValue]? {
        guard let shape = try? ShapePredicate(shape) else { return nil }
        var values: [PredicateValue] = []
        node.forEachComparison { comparison, _ in
            switch comparison.right {
            case .list(let elements) where comparison.operation != .isIn && comparison.right.isConstant:
                values += elements.compactMap { PredicateValue($0) }
            default: if let value = PredicateValue(comparison.right) { values.append(value) }
            }
        }
        return values.count == shape.positions.count ? values : nil
    }
}

extension PredicateValue {
    /// Fails if the node is not a constant, or is not a value.
    fileprivate init?(_ node: FetchExpression.Node) {
        switch node {
        case .value(let value): self = .value(value)
        case .object(let id): self = .object(id.uriRepresentation())
        case .list(let elements) where node.isConstant:
            let values = elements.compactMap { PredicateValue($0) }
            guard values.count == elements.count else { return nil }
            self = .list(values)
        case .list, .null, .path, .aggregate, .function, .conditional: return nil
        }
    }
}
