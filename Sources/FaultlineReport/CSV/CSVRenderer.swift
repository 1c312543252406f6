/// Comma-separated values for spreadsheets and data frames.
struct CSVRenderer: Renderer {
    let name = "csv"
    let purpose = "for spreadsheets"

    var events: (any EventLines.Type)? { EventCSV.self }
    var rows: (any RowLines.Type)? { RowsCSV.self }
}

/// Comma-separated values (RFC 4180), except that lines end in a line feed alone.
enum CSV {
    /// Returns a record, without the line feed at its end.
    static func record(_ values: some Collection<String>) -> String {
        // Readers skip an empty line, so a record of one empty value needs its quotes.
        if values.count == 1, values.first?.isEmpty == true { return "\"\"" }
        return values.map(field).joined(separator: ",")
    }

    private static func field(_ value: String) -> String {
        let needsQuotes = value.utf8.contains {
            $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        guard needsQuotes else { return value }
        return "\"" + value.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension JSONValue {
    /// The value in a field: a text without quotes, nothing for null, and JSON for anything else.
    var field: String {
        switch self {
        case .string(let text): text
        case .null: ""
        default: line
        }
    }
}
