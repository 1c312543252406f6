package import CTraceSchema
package import Foundation

/// Decodes the JSON value of a dictionary entry as the entry's type.
package protocol DictionaryEntryDecoder {
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value
}

extension DictionaryEntry {
    /// Decodes an entry of the given kind; `nil` if there is no such kind.
    ///
    /// - Throws: The decoder's error if the value does not match the kind.
    package init?(_ kind: fl_dictionary_kind, from decoder: some DictionaryEntryDecoder) throws {
        switch kind {
        case .FL_DICTIONARY_ENTITY: self = .entity(try decoder.decode(EntityEntry.self))
        case .FL_DICTIONARY_SHAPE: self = .shape(try decoder.decode(ShapeEntry.self))
        case .FL_DICTIONARY_STATEMENT: self = .statement(try decoder.decode(StatementEntry.self))
        case .FL_DICTIONARY_PLAN: self = .plan(try decoder.decode(PlanEntry.self))
        case .FL_DICTIONARY_SITE: self = .site(try decoder.decode(SiteEntry.self))
        case .FL_DICTIONARY_STACK: self = .stack(try decoder.decode(StackEntry.self))
        case .FL_DICTIONARY_MODULE: self = .module(try decoder.decode(ModuleEntry.self))
        case .FL_DICTIONARY_FRAME: self = .frame(try decoder.decode(FrameEntry.self))
        case .FL_DICTIONARY_NAME: self = .name(try decoder.decode(NameEntry.self))
        case .FL_DICTIONARY_CONTEXT: self = .context(try decoder.decode(ContextEntry.self))
        case .FL_DICTIONARY_THREAD: self = .thread(try decoder.decode(ThreadEntry.self))
        case .FL_DICTIONARY_DESTINATION_USE: self = .destinationUse(try decoder.decode(DestinationUseEntry.self))
        case .FL_DICTIONARY_CALIBRATION: self = .calibration(try decoder.decode(CalibrationEntry.self))
        case .FL_DICTIONARY_NONE, .FL_DICTIONARY_KIND_END: return nil
        }
    }

    /// The entry's kind in the schema.
    package var kind: fl_dictionary_kind { parts.kind }

    /// The value that the trace stores, encoded.
    package var value: any Encodable { parts.value }

    private var parts: (kind: fl_dictionary_kind, value: any Encodable) {
        switch self {
        case .entity(let entry): (.FL_DICTIONARY_ENTITY, entry)
        case .shape(let entry): (.FL_DICTIONARY_SHAPE, entry)
        case .statement(let entry): (.FL_DICTIONARY_STATEMENT, entry)
        case .plan(let entry): (.FL_DICTIONARY_PLAN, entry)
        case .site(let entry): (.FL_DICTIONARY_SITE, entry)
        case .stack(let entry): (.FL_DICTIONARY_STACK, entry)
        case .module(let entry): (.FL_DICTIONARY_MODULE, entry)
        case .frame(let entry): (.FL_DICTIONARY_FRAME, entry)
        case .name(let entry): (.FL_DICTIONARY_NAME, entry)
        case .context(let entry): (.FL_DICTIONARY_CONTEXT, entry)
        case .thread(let entry): (.FL_DICTIONARY_THREAD, entry)
        case .destinationUse(let entry): (.FL_DICTIONARY_DESTINATION_USE, entry)
        case .calibration(let entry): (.FL_DICTIONARY_CALIBRATION, entry)
        }
    }
}

extension DictionaryEntry {
    /// A short name for titles in viewers; empty if the entry needs none.
    package var label: String {
        switch self {
        case .entity(let entry): entry.name
        case .name(let entry): entry.name
        case .statement(let entry): String(entry.sql.prefix(80))
        case .context(let entry): entry.name
        case .thread(let entry): entry.name
        default: ""
        }
    }

    /// The entry's value as JSON, with the same bytes for the same value.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
