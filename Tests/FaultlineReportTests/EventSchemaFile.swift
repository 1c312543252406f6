import FaultlineDocuments
import FaultlineTrace
import Foundation

@testable import FaultlineReport

/// The JSON Schema for the lines that `faultline events --format json` prints, made from the events' declarations.
struct EventSchemaFile {
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Schemas/events.v1.json")

    /// The file's text, with a trailing line feed.
    static var text: String {
        let lines = EventKind.allCases.map { reference($0.name) } + [reference("process"), reference("lost")]
        let kinds = EventKind.allCases.map { (key: $0.name, value: event($0)) }
        return JSONValue.object([
            ("$schema", .string(JSONValue.dialect)), ("$id", .string("events.v1.json")),
            ("title", .string("A line of events")),
            (
                "description",
                .string(
                    "A line that `faultline events --format json` prints: an event, the beginning or the end of a process, or "
                        + "a loss of events.")
            ),
            ("oneOf", .array(lines)),
            (
                "$defs",
                .object([("common", common), ("frame", frame)] + kinds + [("process", process), ("lost", lost)])
            ),
        ]).compact + "\n"
    }

    // MARK: - Values

    private static let count = JSONValue.type("integer", limits: [("minimum", .integer(0))])
    private static let string = JSONValue.type("string")
    private static let bool = JSONValue.type("boolean")
    private static let optionalString = JSONValue.nullable(string)
    private static let site = JSONValue.reference(to: "site")

    private static func reference(_ name: String) -> JSONValue { .object([("$ref", .string("#/$defs/\(name)"))]) }

    private static func constant(_ text: String) -> JSONValue { .object([("const", .string(text))]) }

    /// A count that a recording may lack.
    private static let optionalCount = JSONValue.nullable(count)

    private static func words(_ enumeration: UInt32, orNull: Bool) -> JSONValue {
        let words = EventSchema.words(of: enumeration).map { JSONValue.string($0) }
        return .object([("enum", .array(words + (orNull ? [.null] : [])))])
    }

    private static func plain(_ field: EventSchema.Field) -> JSONValue {
        switch field.meaning {
        case .flag: bool
        case .enumeration(let enumeration): words(enumeration, orNull: false)
        case .choice(let enumeration): words(enumeration, orNull: true)
        case .hash: .object([("type", .string("string")), ("pattern", .string("^[0-9a-f]{16}$"))])
        default: count
        }
    }

    /// An object without other members.
    private static func object(
        _ members: [(key: String, value: JSONValue)], optional: Set<String> = [], sharing shared: JSONValue? = nil
    ) -> JSONValue {
        let required = members.map(\.key).filter { !optional.contains($0) }.map { JSONValue.string($0) }
        let head: [(key: String, value: JSONValue)] = shared.map { [("allOf", .array([$0]))] } ?? []
        // The declarations of another schema count only with this word.
        let rest = shared == nil ? "additionalProperties" : "unevaluatedProperties"
        return .object(
            [("type", .string("object"))] + head + [("properties", .object(members))]
                + (required.isEmpty ? [] : [("required", .array(required))]) + [(rest, .bool(false))])
    }

    // MARK: - Events

    /// The members of every event.
    private static var common: JSONValue {
        let fields: [(key: String, value: JSONValue)] = EventSchema.common.map {
            ($0.name, JSONValue.describing($0.summary, $0.name == "duration" ? optionalCount : count))
        }
        let members: [(key: String, value: JSONValue)] =
            [("process", count)] + fields + [
                ("contextName", string), ("thread", count), ("isMainThread", bool), ("threadName", string),
                ("callSite", JSONValue.describing("The line of the program that asked for it.", site)),
                ("stackSite", JSONValue.describing("The innermost line of the program in its call stack.", site)),
                ("frames", .object([("type", .string("array")), ("items", reference("frame"))])),
            ]
        let optional: Set = ["contextName", "threadName", "callSite", "stackSite", "frames"]
        let required = members.map(\.key).filter { !optional.contains($0) }.map { JSONValue.string($0) }
        return .object([("properties", .object(members)), ("required", .array(required))])
    }

    private static var frame: JSONValue {
        let location = object([("function", string), ("file", string), ("line", count)])
        return object([
            ("address", string), ("module", optionalString),
            ("locations", .object([("type", .string("array")), ("items", location)])),
        ])
    }

    private static func event(_ kind: EventKind) -> JSONValue {
        let schema = EventSchema.of(kind)
        var members: [(key: String, value: JSONValue)] = [("kind", constant(kind.name))]
        var optional: Set<String> = []
        for field in schema.fields {
            let key = schema.key(of: field)
            // A log may leave these out.
            let isOptional = ["rows", "inserted", "updated", "deleted"].contains(key)
            members.append((key, JSONValue.describing(field.summary, isOptional ? optionalCount : plain(field))))
            guard let words = schema.wordsKey(of: field) else { continue }
            members.append((words, JSONValue.describing("The words to which `\(key)` refers.", string)))
            optional.insert(words)
        }
        for list in schema.lists {
            let items = list.words.count == 1 ? plain(list.words[0]) : entry(list)
            let array = JSONValue.object([("type", .string("array")), ("items", items)])
            members.append((list.name, JSONValue.describing(list.summary, array)))
        }
        return object(members, optional: optional, sharing: reference("common"))
    }

    private static func entry(_ list: EventSchema.List) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = []
        var optional: Set<String> = []
        for word in list.words {
            switch word.meaning {
            case .prefetchPath: members.append((word.name, string))
            case .property: members += [(word.name, count), ("name", optionalString)]
            case .reference:
                members += [(word.name, count), (word.name + "Name", string)]
                optional.insert(word.name + "Name")
            default: members.append((word.name, plain(word)))
            }
        }
        return object(members, optional: optional)
    }

    // MARK: - Processes and losses

    private static var process: JSONValue {
        let began = object([
            ("process", count), ("kind", constant("process")), ("phase", constant("began")), ("start", count),
            ("program", string), ("date", JSONValue.describing("The start in seconds since 1970.", .type("number"))),
            ("removed", count),
        ])
        let ended = object([
            ("process", count), ("kind", constant("process")), ("phase", constant("ended")), ("start", count),
            ("events", count), ("lost", count), ("unwritten", count), ("entriesLost", count), ("usesLost", count),
            ("writing", count), ("isClosed", bool), ("isRunning", bool),
        ])
        return .object([("oneOf", .array([began, ended]))])
    }

    private static var lost: JSONValue {
        object([("process", count), ("kind", constant("lost")), ("thread", count), ("events", count)])
    }
}
