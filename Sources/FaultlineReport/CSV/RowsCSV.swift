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
