import Dispatch
import FaultlineRules

/// Tries possible advice on copies of a store, with the queries that a program would run.
final class RestTrials {
    let store: SurveyedStore
    let facts: StoreFacts
    private let start = DispatchTime.now().uptimeNanoseconds

    /// The time in nanoseconds after which no further trial begins.
    private static let limit: UInt64 = 15_000_000_000
    /// The number of rows whose values a query runs with.
    static let draws = 12

    init(_ store: SurveyedStore, _ facts: StoreFacts) {
        self.store = store
        self.facts = facts
    }

    /// The outcome of a proposal, or `nil` if it could not be tried or no time was left.
    func outcome(of proposal: StoreProposal) -> StoreTrial? {
        guard DispatchTime.now().uptimeNanoseconds - start < Self.limit else { return nil }
        return try? trial(of: proposal)
    }

    private func trial(of proposal: StoreProposal) throws -> StoreTrial? {
        switch proposal {
        case .createIndex(let table, let column): try createIndex(on: column, of: table)
        case .dropIndex(let table, let index): try dropIndex(index, of: table)
        case .dropUnusedIndex(let table, let index): try dropUnusedIndex(index, of: table)
        case .vacuum: try vacuum()
        case .purgeHistory: try purgeHistory()
        case .cacheSize(let kibibytes, let old): try cacheSize(kibibytes, insteadOf: old)
        case .analyze(let tables): try analyze(tables)
        case .moveOut(let table, let column): try moveOut(column, of: table)
        case .reorder(let table, let large, let hidden): try reorder(large, hidden, of: table)
        case .split(let table): try split(table)
        case .fold(let table, let column, let other): try fold(other, into: table, by: column)
        }
    }

    // MARK: - Measuring

    /// The maximum time of one measurement's queries, in nanoseconds.
    private static let measurement: UInt64 = 20_000_000

    /// Times one execution of a query on two connections, with the same values.
    func times(
        _ sql: String, _ values: [[StoredValue]] = [], before: DatabaseFile, after: DatabaseFile, fewest: Int = 2
    ) throws(ReplayError) -> PairedTimes {
        try times(sql, sql, values, before: before, after: after, fewest: fewest)
    }

    /// Times one execution of each of two equivalent queries, with the same values.
    ///
    /// - Parameter fewest: The minimum number of values to use, however long that takes.
    func times(
        _ first: String, _ second: String, _ values: [[StoredValue]] = [], before: DatabaseFile, after: DatabaseFile,
        fewest: Int = 2
    ) throws(ReplayError) -> PairedTimes {
        let (old, new) = (try PreparedQuery(first, on: before), try PreparedQuery(second, on: after))
        // The queries run in a transaction, as a store's fetches do. Locking for each look-up would hide its cost.
        let files = before === after ? [before] : [before, after]
        for file in files { try file.run("BEGIN") }
        defer { for file in files { try? file.run("COMMIT") } }
        var used = values
        if values.count > fewest {
            let start = TrialClock.threadTime()
            for query in [old, new] { try query.run(Array(values.prefix(fewest))) }
            let each = max(1, (TrialClock.threadTime() - start) / UInt64(2 * fewest))
            used = Array(values.prefix(max(fewest, Int(clamping: Self.measurement / each))))
        }
        return try PairedTimes(count: max(1, used.count)) { () throws(ReplayError) in
            try old.run(used)
        } after: { () throws(ReplayError) in
            try new.run(used)
        }
    }

    // MARK: - Names

    func quoted(_ name: String) -> String { DatabaseFile.quoted(name) }

    func table(_ name: String) throws(ReplayError) -> StoreFacts.Table {
        guard let table = facts.table(name) else { throw ReplayError.cannotCopy(name, "no such table") }
        return table
    }

    /// Values of columns from random rows, all with the same probability.
    func drawn(_ columns: [String], of table: StoreFacts.Table, _ count: Int = draws) throws -> [[StoredValue]] {
        let list = columns.map { $0 == "rowid" ? $0 : quoted($0) }.joined(separator: ", ")
        let filled = columns.filter { $0 != "rowid" }.map { "\(quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
        let condition = filled.isEmpty ? "1" : filled
        return try store.file.values(
            "SELECT \(list) FROM (SELECT \(list) FROM \(source(table)) WHERE \(condition) LIMIT 20000) "
                + "ORDER BY random() LIMIT \(count)")
    }

    /// The table, or a sample spread over it if it is large.
    private func source(_ table: StoreFacts.Table) -> String {
        let step = table.rows / 20_000
        guard step > 1, hasRowID(table) else { return quoted(table.name) }
        // Knuth's multiplicative hash, as for the sample.
        return "(SELECT rowid, * FROM \(quoted(table.name)) "
            + "WHERE ((rowid & 4294967295) * 2654435761 >> 12 & 1048575) % \(step) = 0)"
    }

    func hasRowID(_ table: StoreFacts.Table) -> Bool {
        (try? store.file.rows("SELECT rowid FROM \(quoted(table.name)) LIMIT 0")) != nil
    }
}
