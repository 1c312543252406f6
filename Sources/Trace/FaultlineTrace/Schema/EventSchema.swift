package import CTraceSchema

/// The schema's declaration of one kind of event, for code that treats all kinds alike, such as printing and queries.
package struct EventSchema: Sendable {
    /// One number of an event, or of an entry of one of its lists.
    package struct Field: Sendable {
        package let name: String
        package let meaning: Meaning
        /// The description of the field in a sentence or two, with the unit of a time.
        package let summary: String
        private let offset: Int
        private let width: UInt8

        fileprivate init(_ field: fl_field, _ description: fl_description) {
            name = String(cString: field.name)
            meaning = Meaning(field)
            let text = String(cString: description.text)
            let end = meaning == .nanoseconds ? text.firstIndex(of: ".") : nil
            summary = end.map { text[..<$0] + ", in nanoseconds" + text[$0...] } ?? text
            offset = Int(field.offset)
            width = field.width
        }

        /// The field's value in a record.
        fileprivate func value(in record: UnsafeRawPointer) -> UInt64 {
            width == 8
                ? record.load(fromByteOffset: offset, as: UInt64.self)
                : UInt64(record.load(fromByteOffset: offset, as: UInt32.self))
        }
    }

    /// The meaning of a number.
    package enum Meaning: Sendable, Hashable {
        case count, bytes, nanoseconds, event, code, flag
        /// A keyed hash.
        case hash
        /// A keyed hash, truncated to the bits that a JSON number holds exactly.
        case shortHash
        /// An entry of the dictionary.
        case reference(fl_dictionary_kind)
        /// A value with a name; see ``EventSchema/word(_:of:)``.
        case enumeration(UInt32)
        /// The value of an enumeration plus 1, or 0 for none.
        case choice(UInt32)
        /// The index of a key path in ``ShapeEntry/prefetch`` of the event's shape.
        case prefetchPath
        /// The index of a property in ``EntityEntry/properties`` of the event's entity.
        case property

        fileprivate init(_ field: fl_field) {
            switch fl_field_meaning(rawValue: UInt32(field.meaning))! {
            case .FL_COUNT: self = .count
            case .FL_BYTES: self = .bytes
            case .FL_NANOSECONDS: self = .nanoseconds
            case .FL_EVENT_ID: self = .event
            case .FL_CODE: self = .code
            case .FL_FLAG: self = .flag
            case .FL_HASH: self = .hash
            case .FL_SHORT_HASH: self = .shortHash
            case .FL_REFERENCE: self = .reference(fl_dictionary_kind(rawValue: field.detail)!)
            case .FL_ENUMERATION: self = .enumeration(field.detail)
            case .FL_CHOICE: self = .choice(field.detail)
            case .FL_PREFETCH_PATH: self = .prefetchPath
            case .FL_PROPERTY: self = .property
            }
        }
    }

    /// A list that follows an event's fields.
    package struct List: Sendable {
        package let name: String
        package let summary: String
        /// The numbers that make up one entry.
        package let words: [Field]
        fileprivate let countOffset: Int
    }

    package let kind: EventKind
    /// The description of the kind.
    package let summary: String
    /// The event's own fields, without the lengths of lists.
    package let fields: [Field]
    package let lists: [List]
    /// The field that appears in the title of the kind's events.
    package let title: Field?

    private init(_ kind: EventKind) {
        let number = UInt32(kind.rawValue)
        var schema = fl_schema(number).pointee
        self.kind = kind
        summary = String(cString: fl_describe_kind(number).text)
        fields = (0..<UInt32(schema.fieldCount)).compactMap { position in
            let field = schema.fields + Int(position)
            return fl_counts_list(&schema, field) ? nil : Field(field.pointee, fl_describe_field(number, position))
        }
        lists = (0..<UInt32(schema.listCount)).map { position in
            let list = schema.lists[Int(position)]
            var count: UInt32 = 0
            let words = fl_entry_words(list.entry, &count)!
            return List(
                name: String(cString: list.name), summary: String(cString: fl_describe_list(number, position).text),
                words: (0..<count).map { Field(words[Int($0)], fl_describe_word(list.entry, $0)) },
                countOffset: Int(list.countOffset))
        }
        let named = fl_title_field(&schema).map { String(cString: $0.pointee.name) }
        title = fields.first { $0.name == named }
    }

    // MARK: - Keys

    /// Returns the key under which a field is printed: its name, unless every event has a field of that name.
    package func key(of field: Field) -> String {
        field.name == "kind" ? kind.name + "Kind" : field.name
    }

    /// Returns the key for the name behind a reference, printed next to the number under ``key(of:)``.
    ///
    ///     entity 3, entityName "Item"; statement 4, sql "SELECT …"
    package func wordsKey(of field: Field) -> String? {
        guard case .reference(let entry) = field.meaning else { return nil }
        switch entry {
        case .FL_DICTIONARY_STATEMENT: return "sql"
        case .FL_DICTIONARY_PLAN: return field.name + "Text"
        case .FL_DICTIONARY_STACK: return nil
        default: return (field.name == "name" ? kind.name : field.name) + "Name"
        }
    }

    // MARK: - Looking up

    private static let all = EventKind.allCases.map(EventSchema.init)

    /// The schema of a kind.
    package static func of(_ kind: EventKind) -> EventSchema { all[Int(kind.rawValue) - 1] }

    /// The fields of every event, whatever its kind.
    package static let common: [Field] = {
        var count: UInt32 = 0
        let fields = fl_common_fields(&count)!
        return (0..<count).map { Field(fields[Int($0)], fl_describe_field(0, $0)) }
    }()

    /// The names of an enumeration's values, in order.
    package static func words(of enumeration: UInt32) -> [String] {
        Array(
            sequence(state: UInt64(0)) { value in
                defer { value += 1 }
                return word(value, of: enumeration)
            })
    }

    /// The name of an enumeration's value, or `nil` for a number that this version does not know.
    package static func word(_ value: UInt64, of enumeration: UInt32) -> String? {
        fl_enumeration_word(enumeration, value).map { String(cString: $0) }
    }
}

extension EventKind {
    /// The kind's word in a trace, in `--kind` and in reports: `"cacheMiss"`.
    public var name: String { String(cString: fl_schema(UInt32(rawValue)).pointee.name) }

    /// Creates the kind with that word, or returns `nil`.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

// MARK: - Values

extension TraceEvent.Detail {
    /// The values of the event's own fields, and the entries of its lists, word by word.
    package struct Values: Sendable {
        package let fields: [(field: EventSchema.Field, value: UInt64)]
        package let lists: [(list: EventSchema.List, entries: [[UInt64]])]
    }

    /// The event's values, field by field.
    ///
    /// - Complexity: O(fields + words of lists); allocates. Meant for printing, not for analysis.
    package var values: Values {
        let schema = EventSchema.of(kind)
        return withRecord { record, words in
            var position = 0
            let lists = schema.lists.map { list in
                let count = Int(record.load(fromByteOffset: list.countOffset, as: UInt32.self))
                let entries = (0..<count).map { _ in
                    defer { position += list.words.count }
                    return Array(words[position..<position + list.words.count])
                }
                return (list, entries)
            }
            return Values(fields: schema.fields.map { ($0, $0.value(in: record)) }, lists: lists)
        }
    }
}
