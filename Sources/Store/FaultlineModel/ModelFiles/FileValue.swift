import Foundation

/// Converts values from and to their form in model files.
enum FileValue {
    /// Parses `YES`, `NO` and their synonyms; `nil` for any other text.
    static func flag(_ text: String) -> Bool? {
        switch text.uppercased() {
        case "YES", "TRUE", "1": true
        case "NO", "FALSE", "0": false
        default: nil
        }
    }

    /// Parses a default, minimum or maximum; `nil` if the text is not a value of the type.
    ///
    /// Number types also accept `YES` and `NO`, which Xcode has left behind when a type was changed later.
    static func value(_ text: String, _ type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64:
            if let value = Int64(text) { return .integer(value) }
            if let value = Double(text), let integer = Int64(exactly: value.rounded(.towardZero)) {
                return .integer(integer)
            }
            return flag(text).map { .integer($0 ? 1 : 0) }
        case .double, .float:
            return Double(text).map { .double($0) } ?? flag(text).map { .double($0 ? 1 : 0) }
        case .decimal:
            if let flag = flag(text) { return .decimal(flag ? 1 : 0) }
            guard Double(text) != nil else { return nil }
            return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .decimal($0) }
        case .boolean:
            return (flag(text) ?? Double(text).map { $0 != 0 }).map { .boolean($0) }
        case .date: return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .string: return .string(text)
        case .uuid: return UUID(uuidString: text).map { .uuid($0) }
        case .uri: return URL(string: text).map { .uri($0) }
        case .binary, .transformable, .undefined, .composite: return nil
        }
    }

    static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .integer(let value): String(value)
        case .decimal(let value): value.description
        case .double(let value): String(value)
        case .string(let value): value
        case .boolean(let value): value ? "YES" : "NO"
        case .date(let value): number(value.timeIntervalSinceReferenceDate)
        case .uuid(let value): value.uuidString
        case .uri(let value): value.absoluteString
        case .binary: nil
        }
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }
}
