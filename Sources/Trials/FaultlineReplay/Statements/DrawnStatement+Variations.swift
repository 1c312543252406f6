internal import FaultlineFindings
import FaultlineTrace

/// Values that are less usual than those of rows spread over a table.
extension DrawnStatement {
    /// The places of values in the order of a column, as shares of its rows.
    private static let quantiles = [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1]
    /// The rarest values of a column to try.
    private static let rarest = 2

    /// The values of the first run, each time with those of another row.
    ///
    /// That row has a rare or the most frequent value of a column, or a small or a great one. For two values of one column, they
    /// are also chosen so that some rows lie between them.
    ///
    /// - Parameters:
    ///   - rows: The number of rows that a run finds.
    ///   - mayBeAbsent: Whether there are values of no row, too: the rows that the program asked for may be gone.
    ///   - end: The time at which the search for values ends, on the wall clock in nanoseconds.
    func variations(
        finding rows: UInt64, absent mayBeAbsent: Bool, until end: UInt64, on file: DatabaseFile
    ) -> [[StoredValue]] {
        guard let first = values.first else { return [] }
        /// The values of the first run with other ones at some places.
        func with(_ changes: [(place: Place, value: StoredValue)]) -> [StoredValue] {
            changes.reduce(into: first) { values, change in
                for position in change.place.first..<change.place.end { values[position] = change.value }
            }
        }
        var found: [[StoredValue]] = []
        for group in Dictionary(grouping: places, by: \.source.table).values.ordered(by: { $0[0].first < $1[0].first })
        {
            let expressions = group.map(\.source.expression).joined(separator: ", ")
            let conditions = group.map(\.source.condition).uniqued.joined(separator: " AND ")
            let from = "FROM \(DatabaseFile.quoted(group[0].source.table)) WHERE \(conditions)"
            for (position, place) in group.enumerated() {
                let column = place.source.expression
                if let other = group.prefix(position).first(where: { $0.source == place.source }) {
                    for range in Self.ranges(of: column, rows, from, until: end, on: file) {
                        found.append(with([(other, range[0]), (place, range[1])]))
                    }
                    continue
                }
                found += Self.rows(of: column, selecting: expressions, from, until: end, on: file).map {
                    with(Array(zip(group, $0)))
                }
                guard mayBeAbsent else { continue }
                let greatest = "max(\(column))"
                let absent = "SELECT iif(typeof(\(greatest)) = 'text', \(greatest) || '~', \(greatest) + 1) \(from)"
                found += Self.values(absent, until: end, on: file).map { with([(place, $0[0])]) }
            }
        }
        return found
    }

    /// Pairs of values between which some rows are.
    private static func ranges(
        of column: String, _ rows: UInt64, _ from: String, until end: UInt64, on file: DatabaseFile
    ) -> [[StoredValue]] {
        let span = rows + 1
        return values(
            """
            SELECT value, last FROM (
                SELECT \(column) AS value, lead(\(column), \(span)) OVER (ORDER BY \(column)) AS last,
                    row_number() OVER (ORDER BY \(column)) AS place, count(*) OVER () AS whole
                \(from))
            WHERE place IN (\(places(span))) AND last IS NOT NULL
            """, until: end, on: file)
    }

    /// The numbers of rows at ``quantiles``, in SQL.
    private static func places(_ span: UInt64 = 1) -> String {
        quantiles.map { "1 + CAST(\($0) * (whole - \(span)) AS INTEGER)" }.joined(separator: ", ")
    }

    private static func values(_ sql: String, until end: UInt64, on file: DatabaseFile) -> [[StoredValue]] {
        let now = TrialClock.wall.now
        return now < end ? (try? file.limitingQueries(to: end - now) { try file.values(sql) }) ?? [] : []
    }

    /// Rows with rare, frequent, small and great values of a column.
    private static func rows(
        of column: String, selecting expressions: String, _ rows: String, until end: UInt64, on file: DatabaseFile
    ) -> [[StoredValue]] {
        let grouped = "SELECT \(expressions) \(rows) GROUP BY \(column) ORDER BY count(*)"
        let ordered = """
            SELECT * FROM (SELECT \(expressions), row_number() OVER (ORDER BY \(column)) AS place, count(*) OVER () AS whole
            \(rows)) WHERE place IN (\(places()))
            """
        return values("\(grouped) LIMIT \(rarest)", until: end, on: file)
            + values("\(grouped) DESC LIMIT 1", until: end, on: file) + values(ordered, until: end, on: file)
    }
}
