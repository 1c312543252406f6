internal import FaultlineDocuments
internal import FaultlineTrace

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

/// Events as comma-separated values: one record for each event, with the fields of all selected kinds as columns.
///
///     process,kind,id,…,callSite,callFunction,stackSite,stackFunction
///
/// Columns have the names that `faultline events --format json` uses. A field that an event's kind does not have is empty,
/// and lists are JSON.
struct EventCSV: EventLines {
    private let columns: [String]
    private var events: EventJSON

    init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) {
        columns = Self.columns(of: kinds, stack: stack)
        events = EventJSON(dictionary: dictionary)
    }

    static func title(of kinds: Set<EventKind>, stack: Bool) -> String? {
        CSV.record(columns(of: kinds, stack: stack))
    }

    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] {
        var values: [String: String] = [:]
        for (key, value) in events.members(event, stack: stack) {
            switch (key, value) {
            case ("callSite", .object(let site)), ("stackSite", .object(let site)):
                let parts = Dictionary(uniqueKeysWithValues: site.map { ($0.key, $0.value.field) })
                values[key] = parts["text"]
                values[key == "callSite" ? "callFunction" : "stackFunction"] = parts["function"]
            default: values[key] = value.field
            }
        }
        // A line feed within a value begins a new line of the record.
        return CSV.record(columns.map { values[$0] ?? "" }).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func columns(of kinds: Set<EventKind>, stack: Bool) -> [String] {
        let common = ["process", "kind"] + EventSchema.common.map(\.name)
        var columns = common + ["contextName", "thread", "isMainThread", "threadName"]
        var known = Set(columns)
        for kind in EventKind.allCases where kinds.contains(kind) {
            let schema = EventSchema.of(kind)
            let fields = schema.fields.flatMap { [schema.key(of: $0), schema.wordsKey(of: $0)].compactMap(\.self) }
            columns += (fields + schema.lists.map(\.name)).filter { known.insert($0).inserted }
        }
        return columns + ["callSite", "callFunction", "stackSite", "stackFunction"] + (stack ? ["frames"] : [])
    }
}

/// A header with the names of the columns, and one record for each row.
struct RowsCSV: RowLines {
    private let names: [String]
    private var isHeaderPrinted = false

    init(names: [String]) { self.names = RowsJSON.keys(names) }

    mutating func add(_ row: [RowValue]) -> String? {
        defer { isHeaderPrinted = true }
        return header + CSV.record(row.map(\.text)) + "\n"
    }

    func end(width: Int?) -> String { header }

    /// The header, unless it is printed.
    private var header: String { isHeaderPrinted || names.isEmpty ? "" : CSV.record(names) + "\n" }
}
