internal import FaultlineFindings
import FaultlineProfile

/// A recorded statement with values from a copy, since a trace has none.
struct DrawnStatement {
    /// The statement, in which `?` stands for a value.
    private(set) var text = ""
    /// The values of each run.
    private(set) var values: [[StoredValue]] = []
    /// The last comparison with a pattern.
    private(set) var pattern: Pattern?

    /// A pattern of a search.
    struct Pattern {
        /// `LIKE` or `GLOB`.
        var operation: String
        /// The position of the pattern among the values.
        var value: Int
        /// The text behind it.
        var end: String.Index
    }

    /// The number of values in place of a list of any length.
    private static let listLength = 5

    /// An expression over the rows of a table.
    private struct Source: Hashable {
        var table: String
        var expression: String
        var condition: String
    }

    /// - Parameters:
    ///   - rows: The number of rows to return where the statement has a limit.
    ///   - offset: The number of rows to skip where it has an offset.
    ///   - isDistinct: Whether each run has other values.
    ///   - length: The number of characters in a pattern.
    ///   - expression: The table of an expression that has a name in the statement, and its SQL. The tables are those of the
    ///     statement.
    /// - Throws: ``Untriable`` if the statement compares something else than columns, or the copy has no such values;
    ///   ``ReplayError`` with SQLite's message.
    init(
        _ sql: String, runs: Int, rows: UInt64, offset: UInt64 = 0, isDistinct: Bool = false, length: Int = 4,
        on file: DatabaseFile,
        expression: (_ name: String, _ tables: [String]) -> (table: String, sql: String)? = { _, _ in nil }
    ) throws {
        let slots = StatementSlots(sql)
        var sources: [(source: Source, isList: Bool)] = []
        var rest = sql.startIndex
        for place in slots.places {
            text += sql[rest..<place.range.lowerBound]
            rest = place.range.upperBound
            switch place.slot {
            case .column(let table, let name):
                let named = expression(name, slots.tables)
                let found = try named?.table ?? Self.table(table, with: name, among: slots.tables, on: file)
                let column = named?.sql ?? DatabaseFile.quoted(name)
                sources.append(
                    (Source(table: found, expression: column, condition: "\(column) IS NOT NULL"), place.isList))
                text += place.isList ? Array(repeating: "?", count: Self.listLength).joined(separator: ", ") : "?"
            case .pattern(let table, let name, let operation):
                let named = expression(name, slots.tables)
                let found = try named?.table ?? Self.table(table, with: name, among: slots.tables, on: file)
                sources.append(
                    (Self.pattern(found, named?.sql ?? DatabaseFile.quoted(name), operation, length), false))
                text += "?"
                pattern = Pattern(operation: operation, value: sources.count - 1, end: text.endIndex)
            case .escape:
                text += "'\\'"
                pattern?.end = text.endIndex
            case .limit: text += "\(max(1, rows))"
            case .offset: text += "\(offset)"
            case .selected: text += "1"
            case .other:
                throw Untriable(
                    "The trace has no values, and those of this statement are not all compared with columns.")
            }
        }
        text += sql[rest...]
        values = try Self.draw(sources, runs: runs, isDistinct: isDistinct, on: file)
    }

    /// Inserts a text with one parameter behind the pattern of a search, and binds the pattern to it as well.
    mutating func insert(_ words: String, repeating pattern: Pattern) {
        text.insert(contentsOf: words, at: pattern.end)
        for run in values.indices {
            values[run].insert(values[run][pattern.value], at: pattern.value + 1)
        }
    }

    /// A pattern that finds the last characters of a text.
    ///
    /// Texts often have the same beginning.
    private static func pattern(_ table: String, _ column: String, _ operation: String, _ length: Int) -> Source {
        let wildcard = operation == "GLOB" ? "*" : "%"
        let piece = "substr(\(column), -\(length))"
        let special = operation == "GLOB" ? ["*", "?", "["] : ["%", "_", "\\"]
        let plain = special.map { " AND instr(\(column), '\($0)') = 0" }.joined()
        return Source(
            table: table, expression: "'\(wildcard)' || \(piece) || '\(wildcard)'",
            condition: "length(\(column)) >= \(length)\(plain)")
    }

    /// The table of a column, which the statement may not name.
    private static func table(
        _ table: String?, with column: String, among tables: [String], on file: DatabaseFile
    ) throws -> String {
        for candidate in table.map({ [$0] }) ?? tables {
            let count = try file.number(
                "SELECT count(*) FROM pragma_table_xinfo(\(DatabaseFile.literal(candidate))) WHERE name = \(DatabaseFile.literal(column)) COLLATE NOCASE"
            )
            if count > 0 || DatabaseFile.isRowID(column) { return candidate }
        }
        let place = (table.map { [$0] } ?? tables).joined(separator: " or ")
        throw Untriable("The store has no column \(column) in \(place).")
    }

    /// Draws the values of each run from rows that are spread over the tables, the same ones each time.
    ///
    /// All values from one table come from one row, so that the statement finds it.
    private static func draw(
        _ sources: [(source: Source, isList: Bool)], runs: Int, isDistinct: Bool, on file: DatabaseFile
    ) throws -> [[StoredValue]] {
        var drawn: [String: [[StoredValue]]] = [:]
        for (table, parts) in Dictionary(grouping: sources.map(\.source), by: \.table) {
            let expressions = parts.map(\.expression).joined(separator: ", ")
            let conditions = parts.map(\.condition).uniqued.joined(separator: " AND ")
            let rows =
                "SELECT \(isDistinct ? "DISTINCT " : "")\(expressions) FROM \(DatabaseFile.quoted(table)) WHERE \(conditions)"
            let count = try file.number("SELECT count(*) FROM (\(rows))")
            guard count > 0 else { throw Untriable("The store has no values to compare with in \(table).") }
            let wanted = min(runs, Int(count))
            drawn[table] =
                isDistinct
                ? try file.values("\(rows) LIMIT \(wanted)")
                : try (0..<wanted).flatMap { run in
                    try file.values("\(rows) LIMIT 1 OFFSET \(UInt64(run) * count / UInt64(wanted))")
                }
        }
        guard !sources.isEmpty else { return [[]] }
        // Distinct values can be fewer than the runs.
        let available = isDistinct ? drawn.values.map(\.count).min() ?? 0 : runs
        return (0..<min(runs, available)).map { run in
            var positions: [String: Int] = [:]
            return sources.flatMap { source, isList in
                let rows = drawn[source.table] ?? []
                let position = positions[source.table, default: 0]
                positions[source.table] = position + 1
                return (0..<(isList ? listLength : 1)).map { rows[(run + $0) % rows.count][position] }
            }
        }
    }
}
