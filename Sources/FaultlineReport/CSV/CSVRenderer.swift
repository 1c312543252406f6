/// Comma-separated values for spreadsheets and data frames.
struct CSVRenderer: Renderer {
    let name = "csv"
    let purpose = "for spreadsheets"

    var events: (any EventLines.Type)? { EventCSV.self }
    var rows: (any RowLines.Type)? { RowsCSV.self }
}

/// Comma-separated values (RFC 4180), except that lines end in a line feed alone, and that no field is a formula.
enum CSV {
    /// The characters with which a spreadsheet's formula can begin, also in the wide forms that Japanese ones accept.
    ///
    /// https://owasp.org/www-community/attacks/CSV_Injection
    private static let formulaSigns: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"]

    /// Returns a record, without the line feed at its end.
    static func record(_ values: some Collection<String>) -> String {
        // Readers skip an empty line, so a record of one empty value needs its quotes.
        if values.count == 1, values.first?.isEmpty == true { return "\"\"" }
        return values.map(field).joined(separator: ",")
    }

    private static func field(_ value: String) -> String {
        // A spreadsheet runs a formula, and names in a trace can be anything. The quotation mark makes it a text.
        let isFormula = value.unicodeScalars.first.map(formulaSigns.contains) == true && Double(value) == nil
        let value = isFormula ? "'" + value : value
        let needsQuotes =
            isFormula
            || value.utf8.contains {
                $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n")
                    || $0 == UInt8(ascii: "\r")
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
