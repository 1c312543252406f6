internal import FaultlineTrace

/// An index that SQLite makes for one run of a statement and throws away
/// (https://www.sqlite.org/optoverview.html#automatic_query_time_indexes).
struct AutomaticIndex: Hashable {
    /// What indexing a row is assumed to take, in nanoseconds, and the range in which that lies: 230–520 ns were measured
    /// of tables that fit a processor's cache, and 2,500 of a million rows.
    static let row = 400.0
    static let rowRange = 200.0...1000.0

    var table: String
    var columns: [String]

    /// The indexes of a plan, with the tables that the statement's aliases stand for.
    ///
    /// Of what a sub-select gives there is no table.
    static func all(in plan: String, of sql: String) -> [AutomaticIndex] {
        plan.split(separator: "\n").compactMap { line in
            let step = /SEARCH (\S+) USING AUTOMATIC (?:PARTIAL )?COVERING INDEX \((.+?)\)/
            guard let match = line.firstMatch(of: step),
                let table = StatementEntry(sql: sql).table(of: match.1)
            else { return nil }
            let columns = match.2.split(separator: " AND ").map { $0.prefix { !"=<>".contains($0) } }
            return AutomaticIndex(table: table, columns: columns.map(String.init))
        }
    }

    /// The fetches that such indexes are made for, by the index.
    static func demands(_ profile: Profile) -> [(index: AutomaticIndex, fetches: [Use])] {
        var uses: [AutomaticIndex: [Use]] = [:]
        for fetch in profile.fetches {
            for (sql, plans) in fetch.statements.texts.sorted(by: { $0.key < $1.key }) {
                for (plan, runs) in plans.sorted(by: { $0.key < $1.key }) where runs.automaticIndexRows > 0 {
                    let indexes = all(in: plan, of: sql)
                    for index in indexes {
                        let rows = runs.automaticIndexRows / UInt64(indexes.count)
                        uses[index, default: []].append(Use(fetch: fetch, runs: runs.count, rows: rows))
                    }
                }
            }
        }
        return uses.map { (index: $0.key, fetches: $0.value) }
            .filter { demand in
                demand.fetches.contains {
                    Double($0.rows) >= FetchIndexing.minimumRows.value * Double(max(1, $0.runs))
                }
            }
            .sorted { ($0.index.table, $0.index.columns.joined()) < ($1.index.table, $1.index.columns.joined()) }
    }

    /// Runs of one fetch's statement.
    struct Use {
        var fetch: FetchProfile
        var runs: UInt64
        /// Rows that were indexed in all of them.
        var rows: UInt64
    }
}
