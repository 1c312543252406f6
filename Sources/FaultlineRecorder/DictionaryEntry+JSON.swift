internal import CTraceSchema
package import FaultlineTrace
package import Foundation

extension DictionaryEntry {
    /// The entry of a kind (`"entity"`, `"shape"` …) that a JSON value describes; `nil` for a kind that this version
    /// does not know.
    ///
    /// - Throws: `DecodingError` if the value is not one of that kind.
    package init?(kind: String, json: Data, decoder: JSONDecoder) throws {
        switch fl_dictionary_kind_named(kind, kind.utf8.count) {
        case FL_DICTIONARY_ENTITY: self = .entity(try decoder.decode(EntityEntry.self, from: json))
        case FL_DICTIONARY_SHAPE: self = .shape(try decoder.decode(ShapeEntry.self, from: json))
        case FL_DICTIONARY_STATEMENT: self = .statement(try decoder.decode(StatementEntry.self, from: json))
        case FL_DICTIONARY_PLAN: self = .plan(try decoder.decode(PlanEntry.self, from: json))
        case FL_DICTIONARY_SITE: self = .site(try decoder.decode(SiteEntry.self, from: json))
        case FL_DICTIONARY_STACK: self = .stack(try decoder.decode(StackEntry.self, from: json))
        case FL_DICTIONARY_MODULE: self = .module(try decoder.decode(ModuleEntry.self, from: json))
        case FL_DICTIONARY_FRAME: self = .frame(try decoder.decode(FrameEntry.self, from: json))
        case FL_DICTIONARY_NAME: self = .name(try decoder.decode(NameEntry.self, from: json))
        case FL_DICTIONARY_CONTEXT: self = .context(try decoder.decode(ContextEntry.self, from: json))
        case FL_DICTIONARY_THREAD: self = .thread(try decoder.decode(ThreadEntry.self, from: json))
        default: return nil
        }
    }

    /// The entry's kind in the schema.
    var kind: fl_dictionary_kind {
        switch self {
        case .entity: FL_DICTIONARY_ENTITY
        case .shape: FL_DICTIONARY_SHAPE
        case .statement: FL_DICTIONARY_STATEMENT
        case .plan: FL_DICTIONARY_PLAN
        case .site: FL_DICTIONARY_SITE
        case .stack: FL_DICTIONARY_STACK
        case .module: FL_DICTIONARY_MODULE
        case .frame: FL_DICTIONARY_FRAME
        case .name: FL_DICTIONARY_NAME
        case .context: FL_DICTIONARY_CONTEXT
        case .thread: FL_DICTIONARY_THREAD
        }
    }

    /// A short name for viewers' titles; empty where none is needed.
    var label: String {
        switch self {
        case .entity(let entry): entry.name
        case .name(let entry): entry.name
        case .statement(let entry): String(entry.sql.prefix(80))
        case .context(let entry): entry.name
        case .thread(let entry): entry.name
        default: ""
        }
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        switch self {
        case .entity(let entry): return try encoder.encode(entry)
        case .shape(let entry): return try encoder.encode(entry)
        case .statement(let entry): return try encoder.encode(entry)
        case .plan(let entry): return try encoder.encode(entry)
        case .site(let entry): return try encoder.encode(entry)
        case .stack(let entry): return try encoder.encode(entry)
        case .module(let entry): return try encoder.encode(entry)
        case .frame(let entry): return try encoder.encode(entry)
        case .name(let entry): return try encoder.encode(entry)
        case .context(let entry): return try encoder.encode(entry)
        case .thread(let entry): return try encoder.encode(entry)
        }
    }
}
