import FaultlineFindings
import FaultlineRules
import Foundation

extension RestTrials {
    private static let trialIndex = "faultline_trial"

    /// Tries an index with the query for the rows that refer to one row of another table.
    func createIndex(on column: String, of name: String) throws -> StoreTrial? {
        let table = try table(name)
        let twin = try store.twin()
        let sql = "SELECT * FROM \(quoted(name)) WHERE \(quoted(column)) = ?1"
        try twin.run("CREATE INDEX \(Self.trialIndex) ON \(quoted(name)) (\(quoted(column)))")
        defer { try? twin.run("DROP INDEX IF EXISTS \(Self.trialIndex)") }
        guard Self.uses(Self.trialIndex, try twin.plan(sql)) else {
            return StoreTrial(
                isConfirmed: false,
                "SQLite does not use it for the query for the rows that refer to "
                    + "one row.")
        }
        // One sample draws each row of the other table with the same probability, and the other each row of this table.
        let ofOthers = try store.file.values(
            """
            SELECT k FROM (SELECT DISTINCT \(quoted(column)) AS k FROM \(quoted(name)) WHERE k IS NOT NULL LIMIT 20000)
            ORDER BY random() LIMIT \(Self.draws)
            """)
        let ofRows = try drawn([column], of: table)
        let times = try times(sql, ofOthers, before: store.file, after: twin)
        let common = try self.times(sql, ofRows, before: store.file, after: twin)
        guard times.isFaster, !common.isSlower else {
            return StoreTrial(
                isConfirmed: false,
                "With it, the query for the rows that refer to one row takes \(times.words).")
        }
        let writes = try? writeTimes(table, twin, index: Self.trialIndex)
        return StoreTrial(
            isConfirmed: true,
            "the query for the rows that refer to one row takes \(times.words)." + Self.cost(writes),
            evidence: [
                Evidence("queryBefore", times.before, .nanoseconds),
                Evidence("queryAfter", times.after, .nanoseconds),
            ])
    }

    /// Tries the queries that an index serves without the index.
    func dropIndex(_ index: String, of name: String) throws -> StoreTrial? {
        let table = try table(name)
        let twin = try store.twin()
        guard let creation = try creation(of: index, in: twin) else { return nil }
        let queries = try Self.queries(index, table, self)
        let alike = try indexes(like: index, of: name)
        try twin.run("DROP INDEX \(quoted(index))")
        defer { try? twin.run(creation) }
        var affected = 0
        for query in queries {
            guard let plan = try? store.file.plan(query.sql), Self.uses(index, plan) else { continue }
            affected += 1
            // With an equivalent index, SQLite does the same as before. A measured difference would be chance.
            let without = try twin.plan(query.sql)
            if alike.contains(where: { plan.replacing("INDEX \(index)", with: "INDEX \($0)") == without }) { continue }
            let times = try times(query.sql, query.values, before: store.file, after: twin)
            guard times.isSlower else { continue }
            return StoreTrial(isConfirmed: false, "Without it, \(query.what) takes \(times.words).")
        }
        return StoreTrial(
            isConfirmed: true,
            affected == 0
                ? "none of the \(count: queries.count) kinds of queries that it could serve uses it."
                : "none of the \(count: affected) kinds of queries that use it is slower without it.")
    }

    /// Tries what the index costs a write.
    func dropUnusedIndex(_ index: String, of name: String) throws -> StoreTrial? {
        let table = try table(name)
        guard let writes = try writeTimes(table, try store.twin(), index: index) else { return nil }
        guard Self.slowsWrites(writes) else {
            return StoreTrial(isConfirmed: false, "Inserting a row takes no longer with it.")
        }
        return StoreTrial(
            isConfirmed: true,
            "inserting a row takes \(writes.words).",
            evidence: [
                Evidence("insertBefore", writes.before, .nanoseconds),
                Evidence("insertAfter", writes.after, .nanoseconds),
            ])
    }

    /// The statement that created an index, or `nil` if the index belongs to a constraint or does not exist.
    private func creation(of index: String, in file: DatabaseFile) throws -> String? {
        let schema = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = \(DatabaseFile.literal(index))"
        let text = try file.rows(schema).first?.first?.text ?? ""
        return text.isEmpty ? nil : text
    }

    /// Other complete indexes of the table on the same columns in the same order.
    private func indexes(like index: String, of table: String) throws -> [String] {
        let all = try store.file.rows("PRAGMA index_list(\(quoted(table)))").filter { $0[4].number == 0 }.map {
            $0[1].text
        }
        guard all.contains(index) else { return [] }
        // The name, direction and collation of each key column. An expression has no name, so an index with one is
        // never equivalent.
        func columns(_ name: String) throws -> [String] {
            try store.file.rows("PRAGMA index_xinfo(\(quoted(name)))").filter { $0[5].number == 1 }.map { row in
                row[2].text.isEmpty ? "" : "\(row[2].text) \(row[3].number) \(row[4].text)"
            }
        }
        let wanted = try columns(index)
        guard !wanted.contains("") else { return [] }
        return try all.filter { try $0 != index && columns($0) == wanted }
    }

    // MARK: - Queries

    struct Query {
        /// A phrase such as `the query for one value`.
        var what: String
        var sql: String
        var values: [[StoredValue]] = []
    }

    /// The queries of a program that an index could serve.
    private static func queries(_ index: String, _ table: StoreFacts.Table, _ trials: RestTrials) throws -> [Query] {
        let file = trials.store.file
        let keys = try file.rows("PRAGMA index_xinfo(\(trials.quoted(index)))").filter { $0[5].number == 1 }
        let columns = keys.map { $0[2].text }
        guard let first = columns.first, columns.allSatisfy({ !$0.isEmpty }) else { return [] }
        let (name, column) = (trials.quoted(table.name), trials.quoted(first))
        let collations = keys.map { $0[4].text == "BINARY" ? "" : " COLLATE \($0[4].text)" }
        let one = try trials.drawn([first], of: table)
        let terms = zip(columns, collations).enumerated().map { position, column in
            "\(trials.quoted(column.0)) = ?\(position + 1)\(column.1)"
        }
        let order = zip(zip(columns, collations), keys).map { column, key in
            trials.quoted(column.0) + column.1 + (key[3].number == 1 ? " DESC" : "")
        }.joined(separator: ", ")
        let value = "\(column) = ?1\(collations[0])"
        var queries = [
            Query(what: "the query for one value", sql: "SELECT * FROM \(name) WHERE \(value)", values: one),
            Query(
                what: "counting the rows of a value", sql: "SELECT count(*) FROM \(name) WHERE \(value)", values: one),
            Query(
                what: "the first rows in its order", sql: "SELECT * FROM \(name) ORDER BY \(order) LIMIT 50"),
            Query(
                what: "the next rows after a value",
                sql:
                    "SELECT * FROM \(name) WHERE \(column) > ?1\(collations[0]) ORDER BY \(column)\(collations[0]) LIMIT 20",
                values: one),
            Query(
                what: "counting by value",
                sql: "SELECT \(column), count(*) FROM \(name) GROUP BY \(column)\(collations[0])"),
            Query(what: "the largest value", sql: "SELECT max(\(column)) FROM \(name)"),
        ]
        if columns.count > 1 {
            queries.append(
                Query(
                    what: "the query for one combination of values",
                    sql: "SELECT * FROM \(name) WHERE \(terms.joined(separator: " AND "))",
                    values: try trials.drawn(columns, of: table)))
        }
        let all = Query(what: "counting all rows", sql: "SELECT count(*) FROM \(name)")
        guard trials.hasRowID(table) else { return queries + [all] }
        let pairs = try trials.drawn([first, "rowid"], of: table)
        // The first queries are those that an index with more columns serves worst, because it orders the rows of a
        // value differently.
        return [
            Query(
                what: "the query for the newest row of a value",
                sql: "SELECT * FROM \(name) WHERE \(value) ORDER BY rowid DESC LIMIT 1", values: one),
            Query(
                what: "the query for the first rows of a value by key",
                sql: "SELECT * FROM \(name) WHERE \(value) ORDER BY rowid LIMIT 20", values: one),
            Query(
                what: "the query for the rows of a value after a key",
                sql: "SELECT * FROM \(name) WHERE \(value) AND rowid > ?2 ORDER BY rowid LIMIT 20", values: pairs),
            Query(
                what: "the first rows in its order and by key",
                sql: "SELECT * FROM \(name) ORDER BY \(order), rowid LIMIT 50"),
        ] + queries + [all]
    }

    /// Whether a plan names an index.
    static func uses(_ index: String, _ plan: String) -> Bool {
        plan.split(separator: "\n").contains { line in
            guard let position = line.range(of: "INDEX \(index)") else { return false }
            return position.upperBound == line.endIndex || line[position.upperBound] == " "
        }
    }

    // MARK: - Writing

    /// Times the insertion of a row with an index, before, and without it, after.
    private func writeTimes(_ table: StoreFacts.Table, _ twin: DatabaseFile, index: String) throws -> PairedTimes? {
        hasRowID(table) ? try twin.insertTimes(table.name, without: quoted(index)) : nil
    }

    /// Whether inserting a row takes longer with an index, beyond the noise.
    private static func slowsWrites(_ times: PairedTimes) -> Bool { times.ratio < 1 / 1.03 }

    private static func cost(_ writes: PairedTimes?) -> Wording {
        guard let writes, slowsWrites(writes) else { return "" }
        return " Inserting a row takes \(duration: writes.before) instead of \(duration: writes.after)."
    }
}
