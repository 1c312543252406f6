internal import FaultlineTrace

/// An automatic index, which SQLite builds for one run of a statement and then discards
/// (https://www.sqlite.org/optoverview.html#automatic_query_time_indexes).
struct AutomaticIndex: Hashable {
    /// The assumed time to index a row, in nanoseconds, with its range.
    ///
    /// 230–520 ns were measured for tables that fit a processor's cache, and 2,500 ns for a million rows.
    static let row = 400.0
    static let rowRange = 200.0...1000.0

    var table: String
    var columns: [String]

    /// The automatic indexes of a plan, with the tables that the statement's aliases stand for.
    ///
    /// The result of a subquery has no table, and is omitted.
    static func all(in plan: String, of sql: String) -> [AutomaticIndex] {
        let names = StatementSlots(sql).names
        return plan.split(separator: "\n").compactMap { line in
            let step = /SEARCH (.+?) USING AUTOMATIC (?:PARTIAL )?COVERING INDEX \((.+?)\)/
            guard let match = line.firstMatch(of: step),
                let table = names.first(where: { $0.alias == match.1 })?.table
            else { return nil }
            let columns = match.2.split(separator: " AND ").map { $0.prefix { !"=<>".contains($0) } }
            return AutomaticIndex(table: table, columns: columns.map(String.init))
        }
    }

    /// The automatic indexes, each with the fetches that use it.
    static func demands(_ profile: Profile) -> [(index: AutomaticIndex, fetches: [Use])] {
        var uses: [AutomaticIndex: [Use]] = [:]
        for fetch in profile.fetches {
            for (sql, plans) in fetch.statements.texts.ordered(on: \.key) {
                for (plan, runs) in plans.ordered(on: \.key) where runs.automaticIndexRows > 0 {
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
            .ordered { ($0.index.table, $0.index.columns.joined()) < ($1.index.table, $1.index.columns.joined()) }
    }

    /// The runs of one fetch's statement.
    struct Use {
        var fetch: FetchProfile
        var runs: UInt64
        /// The number of rows that were indexed in all runs.
        var rows: UInt64
    }
}
