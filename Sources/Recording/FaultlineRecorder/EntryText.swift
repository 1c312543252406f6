internal import FaultlineTrace
internal import Foundation

/// The JSON value of an entry read from the rings.
struct EntryText: DictionaryEntryDecoder {
    let json: Data

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: json)
    }
}
