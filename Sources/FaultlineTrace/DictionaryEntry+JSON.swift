package import Foundation

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
