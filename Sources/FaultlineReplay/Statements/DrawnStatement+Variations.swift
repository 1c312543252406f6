internal import FaultlineFindings
import FaultlineTrace

/// Values that are less usual than those of rows spread over a table.
extension DrawnStatement {
    /// The places of values in the order of a column, as shares of its rows.
    private static let quantiles = [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1]
    /// The rarest values of a column to try.
    private static let rarest = 2
    /// The longest time of a query for values, in nanoseconds.
    private static let patience: UInt64 = 500_000_000

    /// The values of the first run, each time with those of another row: one with a rare or the most frequent value of a
    /// column, with a small or a great one, or with a value that no row has.
    func variations(on file: DatabaseFile) -> [[StoredValue]] {
        guard let first = values.first else { return [] }
        var found: [[StoredValue]] = []
        for group in Dictionary(grouping: places, by: \.source.table).values.ordered(by: { $0[0].first < $1[0].first })
        {
            let expressions = group.map(\.source.expression).joined(separator: ", ")
            let conditions = group.map(\.source.condition).uniqued.joined(separator: " AND ")
            let rows = "FROM \(DatabaseFile.quoted(group[0].source.table)) WHERE \(conditions)"
            for place in group {
                let column = place.source.expression
                let others =
                    Self.rows(of: column, selecting: expressions, rows, on: file)
                    .map { row in
                        zip(group, row).reduce(into: first) { values, part in
                            for position in part.0.first..<part.0.end { values[position] = part.1 }
                        }
                    }
                found += others
                let absence =
                    "SELECT iif(typeof(max(\(column))) = 'text', max(\(column)) || '~', max(\(column)) + 1) \(rows)"
                for row in Self.values(absence, on: file) {
                    var values = first
                    for position in place.first..<place.end { values[position] = row[0] }
                    found.append(values)
                }
            }
        }
        return found
    }

    private static func values(_ sql: String, on file: DatabaseFile) -> [[StoredValue]] {
        (try? file.limitingQueries(to: patience) { try file.values(sql) }) ?? []
    }

    /// Rows with rare, frequent, small and great values of a column.
    private static func rows(
        of column: String, selecting expressions: String, _ rows: String, on file: DatabaseFile
    ) -> [[StoredValue]] {
        let grouped = "SELECT \(expressions) \(rows) GROUP BY \(column) ORDER BY count(*)"
        let places = quantiles.map { "1 + CAST(\($0) * (whole - 1) AS INTEGER)" }.joined(separator: ", ")
        let ordered = """
            SELECT * FROM (SELECT \(expressions), row_number() OVER (ORDER BY \(column)) AS place, count(*) OVER () AS whole
            \(rows)) WHERE place IN (\(places))
            """
        return values("\(grouped) LIMIT \(rarest)", on: file) + values("\(grouped) DESC LIMIT 1", on: file)
            + values(ordered, on: file)
    }
}
