/// A value in a query's result.
package struct RowValue: Sendable {
    package var text: String
    package var json: JSONValue
    package var isNumber: Bool
    package var isNull: Bool

    package init(text: String, json: JSONValue, isNumber: Bool, isNull: Bool) {
        (self.text, self.json, self.isNumber, self.isNull) = (text, json, isNumber, isNull)
    }
}

/// Prints the rows of a query, one by one or all at the end.
package protocol RowLines: SendableMetatype {
    /// Creates a printer for rows with these columns.
    init(names: [String])

    /// Adds a row.
    ///
    /// - Returns: The line to print now, with a line feed, or `nil` if the row is printed at the end.
    mutating func add(_ row: [RowValue]) -> String?

    /// Returns the text to print after the last row.
    ///
    /// - Parameter width: The maximum number of characters in a line, or `nil` for no limit.
    func end(width: Int?) -> String
}

/// A table that is printed when all rows are known, and with them the widths of its columns.
struct RowsText: RowLines {
    private let names: [String]
    private var rows: [[RowValue]] = []

    init(names: [String]) { self.names = names }

    mutating func add(_ row: [RowValue]) -> String? {
        rows.append(row)
        return nil
    }

    func end(width: Int?) -> String {
        var table = TextTable(
            names.indices.map { column in
                let isNumber = rows.allSatisfy { $0[column].isNumber || $0[column].isNull }
                return TextTable.Column(
                    title: names[column], alignment: isNumber ? .right : .left, losing: isNumber ? nil : .middle)
            })
        for row in rows { table.add(row.map(\.text)) }
        return table.lines(width: width ?? .max / 2).joined(separator: "\n") + "\n"
    }
}

/// One object per line.
struct RowsJSON: RowLines {
    private let keys: [String]

    init(names: [String]) { keys = Self.keys(names) }

    func add(_ row: [RowValue]) -> String? {
        JSONValue.object(zip(keys, row).map { (key: $0, value: $1.json) }).line + "\n"
    }

    func end(width: Int?) -> String { "" }

    /// Numbers columns with the same name, as of two joined tables: `id`, `id_2`.
    ///
    /// The keys of a JSON object should be unique (RFC 8259, section 4). Most parsers keep only one of several values.
    static func keys(_ names: [String]) -> [String] {
        var used = Set(names)
        var seen: Set<String> = []
        return names.map { name in
            if seen.insert(name).inserted { return name }
            var number = 2
            while !used.insert("\(name)_\(number)").inserted { number += 1 }
            return "\(name)_\(number)"
        }
    }
}
