internal import CTraceSchema
package import FaultlineTrace

/// The fields of an event as the schema declares them, with names next to the numbers that stand for them.
package struct EventFields {
    package typealias Members = [(String, JSONValue)]

    package let dictionary: TraceDictionary

    package init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
    }

    /// All fields and lists of an event, by key.
    package func members(of detail: TraceEvent.Detail) -> Members {
        let (schema, values) = (EventSchema.of(detail.kind), detail.values)
        var members: Members = []
        for (field, value) in values.fields {
            members.append((schema.key(of: field), plain(field, value)))
            if let key = schema.wordsKey(of: field), let words = words(field, value) {
                members.append((key, .string(words)))
            }
        }
        for (list, entries) in values.lists {
            members.append((list.name, .array(entries.map { entry($0, of: list, values) })))
        }
        return members
    }

    /// The text that a number stands for, or `nil` if there is none.
    package func words(_ field: EventSchema.Field, _ value: UInt64) -> String? {
        switch field.meaning {
        case .reference(let kind): named(kind, DictionaryID(truncatingIfNeeded: value))
        case .enumeration(let enumeration): EventSchema.word(value, of: enumeration)
        case .choice(let enumeration): value == 0 ? nil : EventSchema.word(value - 1, of: enumeration)
        default: nil
        }
    }

    /// A number that refers to the dictionary, and its name if it has one.
    package static func reference(_ key: String, _ id: DictionaryID, _ name: String?) -> Members {
        let number: Members = [(key, .unsigned(UInt64(id)))]
        return name.map { number + [(key + "Name", .string($0))] } ?? number
    }

    // MARK: - Values

    private func plain(_ field: EventSchema.Field, _ value: UInt64) -> JSONValue {
        switch field.meaning {
        case .flag: .bool(value != 0)
        case .enumeration, .choice: .optional(words(field, value))
        case .hash: Self.hash(value)
        default: .unsigned(value)
        }
    }

    private static func hash(_ value: UInt64) -> JSONValue {
        let digits = String(value, radix: 16)
        return .string(String(repeating: "0", count: 16 - digits.count) + digits)
    }

    private func named(_ kind: fl_dictionary_kind, _ id: DictionaryID) -> String? {
        switch kind {
        case .FL_DICTIONARY_ENTITY: dictionary.entity(id)?.name
        case .FL_DICTIONARY_SHAPE: dictionary.shape(id).map(GroupText.shape)
        case .FL_DICTIONARY_STATEMENT: dictionary.statement(id)?.sql
        case .FL_DICTIONARY_PLAN: dictionary.plan(id)?.rows.map(\.detail).joined(separator: "; ")
        case .FL_DICTIONARY_SITE:
            dictionary.site(id).map { CallSite(file: $0.file, line: $0.line).description }
        case .FL_DICTIONARY_NAME: dictionary.name(id)
        case .FL_DICTIONARY_CONTEXT: dictionary.context(id)?.name
        case .FL_DICTIONARY_THREAD: dictionary.thread(id)?.name
        default: nil
        }
    }

    // MARK: - Lists

    /// An entry of a list: a number, or an object with a member for each value.
    private func entry(
        _ words: [UInt64], of list: EventSchema.List, _ values: TraceEvent.Detail.Values
    ) -> JSONValue {
        if list.words.count == 1 { return plain(list.words[0], words[0]) }
        let members = zip(list.words, words).flatMap { word, value -> Members in
            switch word.meaning {
            case .prefetchPath:
                let paths = reference(.FL_DICTIONARY_SHAPE, in: values).flatMap { dictionary.shape($0)?.prefetch } ?? []
                return [(word.name, .string(value < UInt64(paths.count) ? paths[Int(value)] : "?"))]
            case .property:
                let properties =
                    reference(.FL_DICTIONARY_ENTITY, in: values).flatMap { dictionary.entity($0)?.properties } ?? []
                let name = value < UInt64(properties.count) ? properties[Int(value)].name : nil
                return [(word.name, .unsigned(value)), ("name", .optional(name))]
            case .reference:
                return Self.reference(word.name, DictionaryID(truncatingIfNeeded: value), self.words(word, value))
            default: return [(word.name, plain(word, value))]
            }
        }
        return .object(members.map { (key: $0.0, value: $0.1) })
    }

    /// The event's reference to a dictionary entry of that kind.
    private func reference(_ kind: fl_dictionary_kind, in values: TraceEvent.Detail.Values) -> DictionaryID? {
        values.fields.first { $0.field.meaning == .reference(kind) }.map { DictionaryID(truncatingIfNeeded: $0.value) }
    }
}
