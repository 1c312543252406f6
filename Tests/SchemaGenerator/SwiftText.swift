import CTraceSchema

/// The Swift types of events and the way between them and the schema's records.
struct SwiftText {
    let schema: Schema

    static let heading = "// Made by \"make schema\" from faultline_events.h. Do not edit.\n\n"

    /// The files, by name.
    func files() -> [(name: String, text: String)] {
        var files = [("EventKind.swift", eventKind()), ("TraceEvent.swift", event())]
        files.append(("TraceEvent+Detail.swift", detail()))
        for kind in schema.kinds { files.append(("TraceEvent+\(kind.type).swift", file(of: kind))) }
        for entry in schema.entries where !entry.type.contains(".") && entry.type != "UInt64" {
            files.append(("TraceEvent+\(entry.type).swift", file(of: entry)))
        }
        return files.map { ($0.0, Self.heading + $0.1) }
    }

    // MARK: - Kinds

    private func eventKind() -> String {
        var text = Self.comment("A kind of event that a trace can hold.", 0)
        text += "///\n/// The raw value is the number that the schema gives the kind.\n"
        text += "public enum EventKind: UInt8, Sendable, Hashable, CaseIterable {\n"
        for kind in schema.kinds {
            text += Self.comment(kind.text, 1)
            text += "    case \(kind.name)\(kind.number == 1 ? " = 1" : "")\n"
        }
        text += """

                /// Whether the kind's events take up no time of their threads.
                public var isInstant: Bool {
                    switch self {

            """
        for kind in schema.kinds { text += "        case .\(kind.name): \(kind.isInstant)\n" }
        return text + "        }\n    }\n}\n"
    }

    private func detail() -> String {
        var text = "internal import CTraceSchema\n\nextension TraceEvent {\n"
        text += "    /// The fields of one kind of event.\n    public enum Detail: Sendable, Hashable {\n"
        for kind in schema.kinds {
            text += Self.comment(kind.text, 2) + "        case \(kind.name)(\(kind.type))\n"
        }
        text += """
                }

                /// The event's kind, with its fields.
                public var kind: EventKind { detail.kind }
            }

            extension TraceEvent.Detail {
                /// The kind whose fields these are.
                public var kind: EventKind {
                    switch self {

            """
        for kind in schema.kinds { text += "        case .\(kind.name): .\(kind.name)\n" }
        text += """
                    }
                }

                /// The entities that the event is about, as its fields and lists refer to them; 0 stands for none.
                package var entities: [DictionaryID] {
                    switch self {

            """
        for kind in schema.kinds {
            let parts = entities(of: kind)
            let value = parts.isEmpty ? "[]" : parts.joined(separator: " + ")
            text += "        case .\(kind.name)\(parts.isEmpty ? "" : "(let fields)"): \(value)\n"
        }
        text += "        }\n    }\n\n"
        text += "    @inline(__always)\n"
        text += "    init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {\n        switch kind {\n"
        for kind in schema.kinds {
            text += "        case .\(kind.name): self = .\(kind.name)(TraceEvent.\(kind.type)(record))\n"
        }
        text += """
                    }
                }

                /// Calls `body` with the event's own fields, as the schema lays them out, and the words of its lists.
                package func withRecord<Result>(_ body: (UnsafeRawPointer, [UInt64]) -> Result) -> Result {
                    switch self {

            """
        for kind in schema.kinds {
            text += "        case .\(kind.name)(let fields):\n"
            text += "            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }\n"
        }
        return text + "        }\n    }\n}\n"
    }

    /// Expressions for the entities to which a kind's fields and lists refer.
    private func entities(of kind: Schema.Kind) -> [String] {
        let isEntity = { (field: Schema.Field) in
            field.meaning == .FL_REFERENCE && field.detail == fl_dictionary_kind.FL_DICTIONARY_ENTITY.rawValue
        }
        let fields = kind.fields.filter(isEntity).map { "fields.\($0.name)" }
        let lists = kind.lists.flatMap { list in
            list.entry.words.filter(isEntity).map { "fields.\(list.name).map(\\.\($0.name))" }
        }
        return (fields.isEmpty ? [] : ["[\(fields.joined(separator: ", "))]"]) + lists
    }

    // MARK: - What every event carries

    /// The numbers of a record besides the declared fields, with the expressions that read them.
    private static let own = [
        ("thread", "UInt32", "0", "header.thread", "The kernel's number of the thread that did the work."),
        (
            "isMainThread", "Bool", "false", "header.flags & UInt8(FL_ON_MAIN_THREAD) != 0",
            "Whether that thread is the process's first."
        ),
        (
            "process", "UInt32", "0", "record.pointee.process",
            "The kernel's number of the process that recorded the event."
        ),
    ]

    private func event() -> String {
        // Fields of 8 bytes stand first.
        let wide = schema.common.filter { $0.width == 8 }
        let narrow = schema.common.filter { $0.width != 8 }
        let member = { (field: Schema.Field) in
            (field.name, type(of: field, "TraceEvent"), "0", "header.\(field.name)", field.documentation)
        }
        let members = wide.map(member) + Self.own + narrow.map(member)
        var text = """
            public import CTraceSchema

            /// One event of a trace.
            ///
            /// Times are nanoseconds of `CLOCK_MONOTONIC`. IDs of entities, shapes, call sites and the like refer to the
            /// ``TraceDictionary`` of the same process.
            public struct TraceEvent: Sendable, Hashable {

            """
        for (name, type, start, _, documentation) in members {
            text += Self.comment(documentation, 1) + "    public var \(name): \(type) = \(start)\n"
        }
        text += """
                /// Figures that the recording left out.
                ///
                /// Their fields are 0.
                public var unrecorded: Unrecorded = []
                /// The fields of the event's kind.
                public var detail: Detail

                /// An event with every common field zero but those given.
                @inline(__always)
                public init(

            """
        for (name, type, start, _, _) in members { text += "        \(name): \(type) = \(start),\n" }
        text += "        _ detail: Detail\n    ) {\n"
        for (name, _, _, _, _) in members { text += "        self.\(name) = \(name)\n" }
        text += """
                    self.detail = detail
                }

                /// The event that a record of the schema holds, or `nil` for a kind that this version does not know.
                ///
                /// - Complexity: O(lists). No allocation for kinds without lists.
                public init?(_ record: UnsafePointer<fl_event>) {
                    guard let kind = EventKind(rawValue: record.pointee.header.kind) else { return nil }
                    self.init(kind, record)
                }

                /// The event that a record of a known kind holds.
                ///
                /// Inlined, because an event is large: each call that returns it copies it.
                @inline(__always)
                init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {
                    let header = record.pointee.header
                    self.init(

            """
        for (name, _, _, value, _) in members { text += "            \(name): \(value),\n" }
        text += """
                        Detail(kind, record))
                }

                /// The values that every event carries, in the order of ``EventSchema/common``.
                package var commonValues: [UInt64] {
                    [

            """
        for field in schema.common { text += "            UInt64(\(field.name)),\n" }
        return text + "        ]\n    }\n}\n"
    }

    // MARK: - One kind

    private func file(of kind: Schema.Kind) -> String {
        var text = "package import CTraceSchema\n\nextension TraceEvent {\n"
        text += Self.comment(kind.text, 1) + "    public struct \(kind.type): Sendable, Hashable {\n"
        for enumeration in schema.enumerations where enumeration.type.hasPrefix(kind.type + ".") {
            text += declaration(of: enumeration, within: kind.type)
        }
        for entry in schema.entries where entry.type.hasPrefix(kind.type + ".") {
            text += declaration(of: entry, as: String(entry.type.dropFirst(kind.type.count + 1)), 2) + "\n"
        }
        for field in kind.fields { text += property(field, kind.type, 2) }
        for list in kind.lists {
            text += Self.comment(list.text, 2)
            text += "        public var \(list.name): [\(Schema.name(of: list.entry.type, within: kind.type))] = []\n"
        }
        text += "\n        /// Every number zero, every list empty.\n        public init() {}\n    }\n}\n\n"
        text += conversion(of: kind)
        for entry in schema.entries where entry.type.hasPrefix(kind.type + ".") { text += conversion(of: entry) }
        return text
    }

    private func conversion(of kind: Schema.Kind) -> String {
        var text = "extension TraceEvent.\(kind.type): EventRecord {\n"
        text += "    package static var kind: EventKind { .\(kind.name) }\n\n"
        text += "    /// The fields of a record of this kind.\n    init(_ record: UnsafePointer<fl_event>) {\n"
        text += "        let fields = record.pointee.fields.\(kind.name)\n"
        for field in kind.fields { text += "        \(field.name) = \(read(field))\n" }
        if !kind.lists.isEmpty {
            let exists = kind.lists.map { "fields.\($0.name) > 0" }.joined(separator: " || ")
            text += "        guard \(exists) else { return }\n        var lists = ListReader(record)\n"
        }
        for list in kind.lists {
            let entry = list.entry.type == "UInt64" ? "$0[0]" : "TraceEvent.\(list.entry.type)($0)"
            let take = "lists.take(fields.\(list.name), words: \(list.entry.words.count))"
            text += "        \(list.name) = \(take) { \(entry) }\n"
        }
        text += "    }\n\n    /// The record of these fields.\n    package var record: \(kind.structure) {\n"
        text += "        var fields = \(kind.structure)()\n"
        for field in kind.fields { text += "        fields.\(field.name) = \(write(field))\n" }
        for list in kind.lists { text += "        fields.\(list.name) = UInt32(clamping: \(list.name).count)\n" }
        text += "        return fields\n    }\n"
        if !kind.lists.isEmpty {
            let lists = kind.lists.map { $0.entry.type == "UInt64" ? $0.name : "\($0.name).flatMap(\\.words)" }
            text += "\n    /// The words of the lists that follow the record.\n    package var words: [UInt64] {\n"
            text += "        \(lists.joined(separator: " + "))\n    }\n"
        }
        return text + "}\n"
    }

    // MARK: - Entries of lists

    private func file(of entry: Schema.Entry) -> String {
        "extension TraceEvent {\n" + declaration(of: entry, as: entry.type, 1) + "}\n" + conversion(of: entry)
    }

    private func declaration(of entry: Schema.Entry, as name: String, _ depth: Int) -> String {
        let indent = Self.indent(depth)
        var text = Self.comment(entry.text, depth) + "\(indent)public struct \(name): Sendable, Hashable {\n"
        for word in entry.words {
            text += Self.comment(word.documentation, depth + 1)
            text += "\(indent)    public var \(word.name): \(type(ofWord: word, entry))\n"
        }
        let parameters = entry.words.map { word in
            "\(word.name): \(type(ofWord: word, entry)) = \(word.meaning == .FL_CHOICE ? "nil" : "0")"
        }
        text += "\n\(indent)    /// An entry with every number zero but those given.\n"
        text += "\(indent)    public init(\n\(indent)        "
        text += parameters.joined(separator: ",\n\(indent)        ") + "\n\(indent)    ) {\n"
        for word in entry.words { text += "\(indent)        self.\(word.name) = \(word.name)\n" }
        return text + "\(indent)    }\n\(indent)}\n"
    }

    private func conversion(of entry: Schema.Entry) -> String {
        var text = "\nextension TraceEvent.\(entry.type) {\n"
        text += "    /// The entry that stands in a list as these words.\n"
        text += "    init(_ words: UnsafeBufferPointer<UInt64>) {\n"
        for (place, word) in entry.words.enumerated() {
            let value = "words[\(place)]"
            switch word.meaning {
            case .FL_REFERENCE: text += "        \(word.name) = DictionaryID(truncatingIfNeeded: \(value))\n"
            case .FL_CHOICE:
                let choice = type(ofWord: word, entry).dropLast()
                text += "        \(word.name) =\n            \(value) == 0\n"
                text += "            ? nil : \(choice)(rawValue: UInt32(truncatingIfNeeded: \(value) &- 1))\n"
            default: text += "        \(word.name) = \(value)\n"
            }
        }
        let words = entry.words.map { word in
            switch word.meaning {
            case .FL_REFERENCE: "UInt64(\(word.name))"
            case .FL_CHOICE: "\(word.name).map { UInt64($0.rawValue) + 1 } ?? 0"
            default: word.name
            }
        }
        text += "    }\n\n    /// The words that stand for it in a list.\n    var words: [UInt64] {\n"
        return text + "        [\(words.joined(separator: ", "))]\n    }\n}\n"
    }

    // MARK: - Enumerations

    private func declaration(of enumeration: Schema.Enumeration, within outer: String) -> String {
        let name = Schema.name(of: enumeration.type, within: outer)
        var text = Self.comment(enumeration.text, 2)
        text += "        public enum \(name): UInt32, Sendable, Hashable, CaseIterable {\n"
        for value in enumeration.values {
            text += Self.comment(value.text, 3) + "            case \(value.word)\n"
        }
        return text + "        }\n\n"
    }

    // MARK: - Fields

    private func property(_ field: Schema.Field, _ outer: String, _ depth: Int) -> String {
        let start: String
        switch field.meaning {
        case .FL_ENUMERATION: start = "." + schema.enumerations[Int(field.detail)].values[0].word
        case .FL_FLAG: start = "false"
        default: start = "0"
        }
        return Self.comment(field.documentation, depth)
            + "\(Self.indent(depth))public var \(field.name): \(type(of: field, outer)) = \(start)\n"
    }

    private func type(of field: Schema.Field, _ outer: String) -> String {
        switch field.meaning {
        case .FL_EVENT_ID: "EventID"
        case .FL_REFERENCE: "DictionaryID"
        case .FL_ENUMERATION: Schema.name(of: schema.enumerations[Int(field.detail)].type, within: outer)
        case .FL_FLAG: "Bool"
        default: field.width == 8 ? "UInt64" : "UInt32"
        }
    }

    private func type(ofWord word: Schema.Field, _ entry: Schema.Entry) -> String {
        switch word.meaning {
        case .FL_EVENT_ID: "EventID"
        case .FL_REFERENCE: "DictionaryID"
        case .FL_CHOICE: "TraceEvent.\(schema.enumerations[Int(word.detail)].type)?"
        default: "UInt64"
        }
    }

    /// The field's value, taken from the record `fields`.
    ///
    /// A word that this version does not know is read as the first.
    private func read(_ field: Schema.Field) -> String {
        switch field.meaning {
        case .FL_ENUMERATION:
            let enumeration = schema.enumerations[Int(field.detail)]
            return "TraceEvent.\(enumeration.type)(rawValue: fields.\(field.name)) ?? .\(enumeration.values[0].word)"
        case .FL_FLAG: return "fields.\(field.name) != 0"
        default: return "fields.\(field.name)"
        }
    }

    private func write(_ field: Schema.Field) -> String {
        switch field.meaning {
        case .FL_ENUMERATION: "\(field.name).rawValue"
        case .FL_FLAG: "\(field.name) ? 1 : 0"
        default: field.name
        }
    }

    // MARK: - Layout

    private static func indent(_ depth: Int) -> String { String(repeating: "    ", count: depth) }

    /// A documentation comment: its first sentence, and what follows as a paragraph of its own.
    static func comment(_ text: String, _ depth: Int) -> String {
        var paragraphs = [text]
        if let end = text.firstRange(of: ". ") {
            paragraphs = [String(text[..<end.lowerBound]) + ".", String(text[end.upperBound...])]
        }
        let start = indent(depth) + "///"
        return paragraphs.map { paragraph in
            var (lines, line) = ([String](), start)
            for word in paragraph.split(separator: " ") {
                if line.count + 1 + word.count > 120 {
                    lines.append(line)
                    line = start
                }
                line += " " + word
            }
            return (lines + [line]).map { $0 + "\n" }.joined()
        }.joined(separator: start + "\n")
    }
}
