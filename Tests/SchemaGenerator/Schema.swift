import CTraceSchema

/// The declarations in `faultline_events.h`, as values.
struct Schema {
    struct Field {
        let name: String
        let width: UInt8
        let meaning: fl_field_meaning
        let detail: UInt32
        let text: String

        /// The description, with the unit of a time.
        var documentation: String {
            guard meaning == .FL_NANOSECONDS, let end = text.firstIndex(of: ".") else { return text }
            return text[..<end] + ", in nanoseconds" + text[end...]
        }
    }

    struct Entry {
        let type: String
        let text: String
        let words: [Field]
    }

    struct List {
        let name: String
        let entry: Entry
        let text: String
    }

    struct Kind {
        let number: UInt32
        let name: String
        let type: String
        let structure: String
        let isInstant: Bool
        let text: String
        /// Without the lengths of lists.
        let fields: [Field]
        let lists: [List]
    }

    struct Enumeration {
        let number: UInt32
        let type: String
        let text: String
        let values: [(word: String, text: String)]
    }

    let common: [Field]
    let kinds: [Kind]
    let entries: [Entry]
    let enumerations: [Enumeration]

    init() {
        var count: UInt32 = 0
        let commonFields = fl_common_fields(&count)
        common = (0..<count).map { Self.field(commonFields!, $0, fl_describe_field(0, $0)) }
        let entries = (0..<FL_ENTRY_KIND_END.rawValue).map(Self.entry)
        self.entries = entries
        kinds = (1..<fl_event_kind.FL_EVENT_KIND_END.rawValue).map { Self.kind($0, entries) }
        enumerations = (0..<FL_ENUMERATION_END.rawValue).map(Self.enumeration)
    }

    private static func field(
        _ fields: UnsafePointer<fl_field>, _ place: UInt32, _ description: fl_description
    ) -> Field {
        let field = fields[Int(place)]
        return Field(
            name: String(cString: field.name), width: field.width,
            meaning: fl_field_meaning(rawValue: UInt32(field.meaning))!, detail: field.detail,
            text: String(cString: description.text))
    }

    private static func entry(_ number: UInt32) -> Entry {
        var count: UInt32 = 0
        let words = fl_entry_words(number, &count)
        let description = fl_describe_entry(number)
        return Entry(
            type: String(cString: description.type), text: String(cString: description.text),
            words: (0..<count).map { field(words!, $0, fl_describe_word(number, $0)) })
    }

    private static func kind(_ number: UInt32, _ entries: [Entry]) -> Kind {
        let schema = fl_schema(number).pointee
        let description = fl_describe_kind(number)
        let fields = (0..<UInt32(schema.fieldCount)).compactMap { place in
            withUnsafePointer(to: schema) { fl_counts_list($0, schema.fields + Int(place)) }
                ? nil : field(schema.fields, place, fl_describe_field(number, place))
        }
        let lists = (0..<UInt32(schema.listCount)).map { place in
            let list = schema.lists[Int(place)]
            return List(
                name: String(cString: list.name), entry: entries[Int(list.entry)],
                text: String(cString: fl_describe_list(number, place).text))
        }
        return Kind(
            number: number, name: String(cString: schema.name), type: String(cString: description.type),
            structure: String(cString: description.structure), isInstant: schema.isInstant,
            text: String(cString: description.text), fields: fields, lists: lists)
    }

    private static func enumeration(_ number: UInt32) -> Enumeration {
        let description = fl_describe_enumeration(number)
        var values: [(word: String, text: String)] = []
        while let word = fl_enumeration_word(number, UInt64(values.count)) {
            let text = String(cString: fl_describe_value(number, UInt32(values.count)).text)
            values.append((String(cString: word), text))
        }
        return Enumeration(
            number: number, type: String(cString: description.type), text: String(cString: description.text),
            values: values)
    }

    /// The name of a Swift type as it is written within another one.
    static func name(of type: String, within outer: String) -> String {
        if type == "UInt64" { return type }
        return type.hasPrefix(outer + ".") ? String(type.dropFirst(outer.count + 1)) : "TraceEvent." + type
    }
}
