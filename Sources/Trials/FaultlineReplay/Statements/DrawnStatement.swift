internal import FaultlineFindings
import FaultlineProfile

/// A recorded statement with values from a copy, since a trace has none.
struct DrawnStatement {
    /// The statement, in which `?` stands for a value.
    private(set) var text = ""
    /// The values of each run.
    private(set) var values: [[StoredValue]] = []
    /// Whether it has values that are not compared with columns.
    ///
    /// An inserted row has those of another row, and any other such value is 1.
    private(set) var hasGuesses = false
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

    /// The reason why values cannot be drawn.
    static let unknownValues =
        "The trace has no values, and those of this statement are not all compared with columns; record with --values."

    private var sources: [(source: Source, isList: Bool)] = []

    /// The number of values in place of a list of any length.
    private static let listLength = 5

    /// An expression over the rows of a table.
    struct Source: Hashable {
        var table: String
        var expression: String
        var condition: String
    }

    /// - Parameters:
    ///   - rows: The number of rows to return where the statement has a limit.
    ///   - offset: The number of rows to skip where it has an offset.
    ///   - isDistinct: Whether each run has other values.
    ///   - length: The number of characters in a pattern.
    ///   - guesses: Whether values that are not compared with columns may be guessed.
    ///   - expression: The table of an expression that has a name in the statement, and its SQL. The tables are those of the
    ///     statement.
    /// - Throws: ``Untriable`` if the statement compares something else than columns, or the copy has no such values;
    ///   ``ReplayError`` with SQLite's message.
    init(
        _ sql: String, runs: Int, rows: UInt64, offset: UInt64 = 0, isDistinct: Bool = false, length: Int = 4,
        guessing guesses: Bool = false, on file: DatabaseFile,
        expression: (_ name: String, _ tables: [String]) -> (table: String, sql: String)? = { _, _ in nil }
    ) throws {
        let slots = StatementSlots(sql)
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
                text += Self.parameters(place.isList ? Self.listLength : 1)
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
            case .other where guesses && place.isList:
                let inserted = try Self.insertedValues(sql, before: place.range.lowerBound, on: file)
                sources += inserted.map { ($0, false) }
                text += Self.parameters(inserted.count)
                hasGuesses = true
            case .other where guesses:
                text += "1"
                hasGuesses = true
            case .other:
                throw Untriable(Self.unknownValues)
            }
        }
        text += sql[rest...]
        // One row stands for any number of them.
        text.replace("), …", with: ")")
        values = try Self.draw(sources, runs: runs, isDistinct: isDistinct, on: file)
    }

    private static func parameters(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }

    /// The source of a value, with the place of the value: several ones for a list.
    typealias Place = (source: Source, first: Int, end: Int)

    /// The places of the values that come from the copy, in the order of the statement.
    var places: [Place] {
        var end = 0
        return sources.map { source, isList in
            let first = end
            end += isList ? Self.listLength : 1
            return (source, first, end)
        }
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

    /// The values of an inserted row: those of another one, but for its row ID.
    private static func insertedValues(
        _ sql: String, before end: String.Index, on file: DatabaseFile
    ) throws -> [Source] {
        let tokens = StatementText.tokens(of: String(sql[..<end]))
        guard let into = tokens.firstIndex(where: { $0.isKeyword("INTO") }),
            let values = tokens[into...].firstIndex(where: { $0.isKeyword("VALUES") }),
            let table = StatementText.name(at: into + 1, in: tokens[...])?.last
        else { throw Untriable(unknownValues) }
        let named = tokens[into..<values].drop { $0.text != "(" }.filter(\.isName).map { $0.text.lowercased() }
        let columns = try file.rows(
            "SELECT name, upper(type) = 'INTEGER' AND pk > 0 AND sum(pk > 0) OVER () = 1 FROM pragma_table_info(\(DatabaseFile.literal(table)))"
        )
        let all = Dictionary(columns.map { ($0[0].text.lowercased(), $0) }) { one, _ in one }
        return try (named.isEmpty ? columns.map { $0[0].text.lowercased() } : named).map { name in
            guard let column = all[name] else { throw Untriable("The store has no column \(name) in \(table).") }
            let expression = column[1].number != 0 ? "NULL" : DatabaseFile.quoted(column[0].text)
            return Source(table: table, expression: expression, condition: "1")
        }
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
        let named = table.map { [$0] } ?? tables
        let missing = try named.first { name in
            try file.number("SELECT count(*) FROM pragma_table_list(\(DatabaseFile.literal(name)))") == 0
        }
        if let missing {
            throw Untriable(
                "The database has no table \(missing), which may be a temporary one or in an attached database.")
        }
        let place = named.joined(separator: " or ")
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
