internal import FaultlineTrace

/// A value that has a form in JSON, and the JSON Schema of that form (https://json-schema.org/draft/2020-12).
package protocol JSONRepresentable: SendableMetatype {
    var json: JSONValue { get }
    /// Returns the schema.
    ///
    /// - Parameter definitions: Receives the schemas to which it refers by name.
    static func schema(_ definitions: inout JSONDefinitions) -> JSONValue
}

/// Schemas by name, which other schemas refer to.
///
/// A `nil` is a schema that is being made.
package typealias JSONDefinitions = [String: JSONValue?]

/// A value that is an object in JSON.
///
/// Its members are declared once, and both its JSON and its schema follow from them.
package protocol JSONObject: JSONRepresentable, Sendable {
    /// The name under which schemas refer to this one, or `nil`, the default, if it is part of those that have such objects.
    static var definition: String? { get }
    /// The description in the schema.
    ///
    /// Default: none.
    static var summary: String { get }
    static var members: JSONMembers<Self> { get }
}

extension JSONObject {
    package static var definition: String? { nil }
    package static var summary: String { "" }

    package var json: JSONValue { .object(Self.members.values(of: self)) }

    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        guard let definition else { return .describing(summary, members.schema(&definitions)) }
        if definitions[definition] == nil {
            definitions.updateValue(nil, forKey: definition)
            definitions[definition] = .describing(summary, members.schema(&definitions))
        }
        return .reference(to: definition)
    }
}

/// A document that a command prints as JSON.
///
/// It is one object with its keys in alphabetical order. Equal documents have equal text.
package protocol JSONDocument: JSONObject {
    /// The name of its schema, such as `"report"`.
    static var name: String { get }
    static var title: String { get }
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning. Default: 1.
    static var version: Int { get }
}

extension JSONDocument {
    package static var version: Int { 1 }

    package var json: JSONValue {
        .sorted([(key: "version", value: .integer(Int64(Self.version)))] + Self.members.values(of: self))
    }

    /// The document's text, with a trailing line feed.
    package var jsonText: String { json.indented + "\n" }

    /// The text of the document's schema, with a trailing line feed.
    ///
    /// - Parameter definitions: Receives the schemas to which it refers.
    package static func schemaText(_ definitions: inout JSONDefinitions) -> String {
        let version = JSONMember<Self>(
            "version", "The version of the keys, which increases when a key is removed or changes its meaning.",
            constant: .integer(Int64(version)))
        let head: [(key: String, value: JSONValue)] = [
            ("$schema", .string(JSONValue.dialect)), ("$id", .string("\(name).v\(Self.version).json")),
            ("title", .string(title)), ("description", .string(summary)),
        ]
        guard case .object(let schema) = members.schema(after: [version], &definitions) else { return "" }
        return JSONValue.object(head + schema).compact + "\n"
    }
}

/// The members of an object.
package struct JSONMembers<Root: Sendable>: ExpressibleByArrayLiteral, Sendable {
    private let declared: [JSONMember<Root>]
    private let sorted: [JSONMember<Root>]

    package init(_ members: [JSONMember<Root>]) {
        declared = members
        sorted = members.ordered(on: \.key)
    }

    package init(arrayLiteral elements: JSONMember<Root>...) { self.init(elements) }

    fileprivate func values(of root: Root) -> [(key: String, value: JSONValue)] {
        sorted.compactMap { member in member.value(root).map { (member.key, $0) } }
    }

    /// - Parameter first: Members that come before these.
    fileprivate func schema(after first: [JSONMember<Root>] = [], _ definitions: inout JSONDefinitions) -> JSONValue {
        let members = first + declared
        let properties = members.map { (key: $0.key, value: $0.schema(&definitions)) }
        let required = members.filter { !$0.isOptional }.map { JSONValue.string($0.key) }
        return .object([
            ("type", .string("object")), ("properties", .object(properties)), ("required", .array(required)),
            ("additionalProperties", .bool(false)),
        ])
    }
}

/// A member of an object: its key, its description, its type and its value.
package struct JSONMember<Root>: Sendable {
    let key: String
    /// Whether an object can lack it.
    let isOptional: Bool
    let value: @Sendable (Root) -> JSONValue?
    let schema: @Sendable (inout JSONDefinitions) -> JSONValue

    /// A member whose key says enough.
    package init<Value: JSONRepresentable>(_ key: String, _ value: @escaping @Sendable (Root) -> Value) {
        self.init(key, "", value)
    }

    /// - Parameter limits: The schema's conditions besides the type, such as `"maximum"`.
    package init<Value: JSONRepresentable>(
        _ key: String, _ summary: String, limits: [(key: String, value: JSONValue)] = [],
        _ value: @escaping @Sendable (Root) -> Value
    ) {
        (self.key, isOptional) = (key, false)
        self.value = { value($0).json }
        schema = { .describing(summary, Value.schema(&$0), limits: limits) }
    }

    private init<Value: JSONRepresentable>(
        optional key: String, _ summary: String, _ value: @escaping @Sendable (Root) -> Value?
    ) {
        (self.key, isOptional) = (key, true)
        self.value = { value($0)?.json }
        schema = { .describing(summary, Value.schema(&$0)) }
    }

    /// A member that always has the same value.
    fileprivate init(_ key: String, _ summary: String, constant: JSONValue) {
        (self.key, isOptional) = (key, false)
        value = { _ in constant }
        schema = { _ in .describing(summary, .object([("const", constant)])) }
    }

    /// A member that an object lacks where the value is `nil`.
    package static func optional<Value: JSONRepresentable>(
        _ key: String, _ summary: String, _ value: @escaping @Sendable (Root) -> Value?
    ) -> JSONMember {
        JSONMember(optional: key, summary, value)
    }

    /// A member that an object lacks where the value is `nil`, and whose key says enough.
    package static func optional<Value: JSONRepresentable>(
        _ key: String, _ value: @escaping @Sendable (Root) -> Value?
    ) -> JSONMember {
        .optional(key, "", value)
    }

    /// A number from 0 to 1.
    package static func share(
        _ key: String, _ summary: String, _ value: @escaping @Sendable (Root) -> Double
    ) -> JSONMember {
        JSONMember(key, summary, limits: [("minimum", .integer(0)), ("maximum", .integer(1))], value)
    }
}

// MARK: - Schemas

extension JSONValue {
    /// The dialect that the schemas are written in.
    package static let dialect = "https://json-schema.org/draft/2020-12/schema"

    /// A schema with a description, unless that is empty, and with further demands.
    package static func describing(
        _ summary: String, _ schema: JSONValue, limits: [(key: String, value: JSONValue)] = []
    ) -> JSONValue {
        guard case .object(let members) = schema, !summary.isEmpty || !limits.isEmpty else { return schema }
        let description = summary.isEmpty ? [] : [(key: "description", value: JSONValue.string(summary))]
        return .object(description + members.filter { $0.key != "description" || summary.isEmpty } + limits)
    }

    /// A reference to a definition.
    package static func reference(to definition: String) -> JSONValue {
        .object([("$ref", .string("definitions.v1.json#/$defs/\(definition)"))])
    }

    /// A schema of values of one type.
    package static func type(_ name: String, limits: [(key: String, value: JSONValue)] = []) -> JSONValue {
        .object([("type", .string(name))] + limits)
    }

    /// A schema of the values of another one, and of null.
    package static func nullable(_ schema: JSONValue) -> JSONValue {
        if case .object(var members) = schema, let place = members.firstIndex(where: { $0.key == "type" }),
            case .string(let name) = members[place].value, name != "object"
        {
            members[place].value = .array([.string(name), .string("null")])
            return .object(members)
        }
        return .object([("anyOf", .array([schema, type("null")]))])
    }
}

// MARK: - Values

extension String: JSONRepresentable {
    package var json: JSONValue { .string(self) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { .type("string") }
}

extension Bool: JSONRepresentable {
    package var json: JSONValue { .bool(self) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { .type("boolean") }
}

extension Double: JSONRepresentable {
    package var json: JSONValue { .number(self) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { .type("number") }
}

extension Int64: JSONRepresentable {
    package var json: JSONValue { .integer(self) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { .type("integer") }
}

extension UInt64: JSONRepresentable {
    package var json: JSONValue { .unsigned(self) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        .type("integer", limits: [("minimum", .integer(0))])
    }
}

/// A count, which is never negative.
extension Int: JSONRepresentable {
    package var json: JSONValue { .integer(Int64(self)) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { UInt64.schema(&definitions) }
}

extension UInt32: JSONRepresentable {
    package var json: JSONValue { .unsigned(UInt64(self)) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue { UInt64.schema(&definitions) }
}

extension Optional: JSONRepresentable where Wrapped: JSONRepresentable {
    package var json: JSONValue { self?.json ?? .null }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        .nullable(Wrapped.schema(&definitions))
    }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
    package var json: JSONValue { .array(map(\.json)) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        .type("array", limits: [("items", Element.schema(&definitions))])
    }
}

/// An object whose keys are data.
extension Dictionary: JSONRepresentable where Key: JSONRepresentable & JSONKey, Value: JSONRepresentable {
    package var json: JSONValue { .sorted(map { (key: $0.key.jsonWord, value: $0.value.json) }) }
    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        let names = Key.self == String.self ? [] : [(key: "propertyNames", value: Key.schema(&definitions))]
        return .type("object", limits: names + [("additionalProperties", Value.schema(&definitions))])
    }
}

/// A value that is text in JSON, and can be a key.
package protocol JSONKey {
    var jsonWord: String { get }
}

extension String: JSONKey {
    package var jsonWord: String { self }
}

/// A value that is one of a few words in JSON.
package protocol JSONWord: JSONRepresentable, JSONKey, CaseIterable {
    /// The name under which schemas refer to the words, or `nil`, the default.
    static var definition: String? { get }
    /// The description in the schema.
    ///
    /// Default: none.
    static var summary: String { get }
}

extension JSONWord {
    package static var definition: String? { nil }
    package static var summary: String { "" }
    package var json: JSONValue { .string(jsonWord) }
    package var jsonWord: String { "\(self)" }

    package static func schema(_ definitions: inout JSONDefinitions) -> JSONValue {
        let schema = JSONValue.describing(
            summary, .object([("enum", .array(allCases.map(\.json)))]))
        guard let definition else { return schema }
        definitions[definition] = schema
        return .reference(to: definition)
    }
}

extension JSONWord where Self: RawRepresentable, RawValue == String {
    package var jsonWord: String { rawValue }
}
