internal import FaultlineTrace
internal import Foundation

extension DictionaryEntry {
    /// A short name for titles in viewers; empty if the entry needs none.
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

    /// The entry's value as JSON, with the same bytes for the same value.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}

/// The JSON value of an entry read from the rings.
struct EntryText: DictionaryEntryDecoder {
    let json: Data

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: json)
    }
}
