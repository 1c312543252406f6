import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R19: sorting without an index")
struct SortRuleTests {
    private func findings(
        sort: [String] = ["title ascending"], _ terms: [ShapeEntry.Term] = [], isLimited: Bool = false, rows: UInt32,
        steps: UInt32? = nil, machine: UInt64 = 1, plan: String? = nil, times: Int = 1, sorts: UInt32 = 1,
        duration: UInt64? = nil
    ) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape(terms.isEmpty ? "" : "…", terms, sort: sort, isLimited: isLimited)
        for _ in 0..<times {
            let fetch = music.fetch(shape, rows: rows, duration: duration)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.sorts) = (rows, steps ?? rows, sorts)
            statement.virtualMachineSteps = machine
            if let plan {
                let row = PlanEntry.Row(id: 3, parent: 0, detail: plan)
                statement.plan = music.trace.define(.plan(PlanEntry(rows: [row])))
                statement.statement = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
            }
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
        return Analysis(Profile(music.trace.closed()), rules: [SortRule()]).findings
    }

    @Test func `R19 advises an index in the sort order for rows that each fetch sorts`() throws {
        let found = findings(sort: ["milliseconds descending"], rows: 2000, times: 3)
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R19")
        #expect(finding.title.text == "Index Track by milliseconds to avoid the sort")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == [#"FetchIndexDescription("byMilliseconds", on: "milliseconds")"#])
        #expect(
            finding.explanation.map(\.text) == ["SQLite sorted 3 times, on average 2,000 rows: 12.0 ms in all."])
        #expect(finding.severity == .warning && finding.confidence.level == .low)
        // 50 ns for each of 2,000 rows and each of 11 comparisons.
        #expect(abs(finding.saving.time.median - 3 * 50 * 2000 * 10.95) < 10_000)
        #expect(finding.saving.time.low == finding.saving.time.median / 2)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == ["executions": 3, "sorts": 3, "sortedRows": 6000, "rows": 6000, "fetchTime": 12_030_000])
    }

    @Test func `A sort of wide rows costs their bytes, which the sorter carries`() throws {
        func saving(rowSize: UInt64, batchSize: UInt32 = 0) throws -> Saving.Range {
            var music = Music()
            music.calibrate(music.shape())
            let shape = music.shape(sort: ["title ascending"])
            let fetch = music.fetch(shape, rows: 1000, duration: 80_000_000) { $0.batchSize = batchSize }
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.sorts) = (1000, 1000, 1)
            music.trace.event(.sql(statement), duration: 79_000_000, parent: fetch, advancing: false)
            var use = Music.use(of: fetch, rows: 1000)
            (use.batchSize, use.bytes) = (batchSize, 1000 * rowSize)
            use.touchFirst(1000)
            music.add(use, shape: shape)
            return try #require(
                Analysis(Profile(music.trace.closed()), rules: [SortRule()]).findings.first
            ).saving.time
        }
        let narrow = try saving(rowSize: 256)
        let wide = try saving(rowSize: 10_256)
        // 1.3 ns (0.9–2) for each of 10,000 bytes of 1,000 rows.
        #expect(abs(wide.median - narrow.median - 13_000_000) < 1)
        #expect(abs(wide.low - narrow.low - 9_000_000) < 1 && abs(wide.high - narrow.high - 20_000_000) < 1)
        // Batched results sort IDs alone, and no sort takes longer than its fetch.
        #expect(try saving(rowSize: 10_256, batchSize: 20) == narrow)
        #expect(try saving(rowSize: 100_000).median <= 80_000_000)
    }

    @Test func `A sort of many rows for a small limit is reported`() throws {
        let finding = try #require(
            findings(isLimited: true, rows: 10, steps: 1199, duration: 900_000).first)
        #expect(
            finding.explanation.map(\.text) == [
                "SQLite sorted 1,199 rows for the 10 that the limit returns: 900 µs in all."
            ])
        // With the index, SQLite reads ten rows, at an assumed microsecond each.
        #expect(abs(finding.saving.time.median - (900_000 - 10_000 - 10 * 1000)) < 1000)
        let often = try #require(
            findings(isLimited: true, rows: 10, steps: 1199, times: 5, duration: 900_000).first)
        #expect(abs(often.saving.time.median - 5 * (900_000 - 10_000 - 10 * 1000)) < 5000)
        #expect(findings(isLimited: true, rows: 6, steps: 60).count == 1)
        #expect(findings(isLimited: true, rows: 7, steps: 60).isEmpty)
        #expect(findings(isLimited: true, rows: 1, steps: 40).isEmpty)
    }

    /// The counters of SQLite 3.40 for such statements on 10,000 rows of eight columns, 1 % or half of which match.
    @Test(arguments: [
        (found: 100 as UInt64, steps: 0 as UInt32, machine: 1222 as UInt64, sorted: 80.0...100.0),
        (2000, 0, 16_721, 1100...2000), (5714, 9999, 59_519, 1500...5714),
    ])
    func `The rows sorted behind an index and a limit are estimated from SQLite's steps`(
        found: UInt64, steps: UInt32, machine: UInt64, sorted: ClosedRange<Double>
    ) throws {
        let terms = [ShapeEntry.Term(keyPath: "milliseconds", operation: ">")]
        let plan = "SEARCH t0 USING INDEX byMilliseconds (ZMILLISECONDS>?)"
        let finding = findings(
            terms, isLimited: true, rows: 10, steps: steps, machine: machine, plan: steps == 0 ? plan : nil, times: 2
        ).first
        guard found > 500 else { return #expect(finding == nil) }
        let rows = try #require(finding?.evidence.first { $0.name == "sortedRows" }).value / 2
        #expect(sorted.contains(rows))
        let explanation = try #require(finding?.explanation.map(\.text).first)
        #expect(explanation.hasPrefix("SQLite sorted 2 times, on average at least "))
        #expect(explanation.contains(" rows for the 10 that the limit returns: "))
    }

    @Test func `Steps that comparing or returning rows can explain are not reported as a sort`() {
        let terms = [ShapeEntry.Term(keyPath: "milliseconds", operation: ">")]
        // No row matches, or 1 % match.
        #expect(findings(terms, isLimited: true, rows: 0, steps: 9999, machine: 40_010).isEmpty)
        #expect(findings(terms, isLimited: true, rows: 10, steps: 9999, machine: 40_960).isEmpty)
        // Comparing texts takes more steps, and the steps for a key path are unknown.
        let text = [ShapeEntry.Term(keyPath: "title", operation: "CONTAINS", options: "cd")]
        #expect(findings(text, isLimited: true, rows: 10, steps: 9999, machine: 59_519).isEmpty)
        let joined = [ShapeEntry.Term(keyPath: "album.title", operation: "==")]
        #expect(findings(joined, isLimited: true, rows: 10, steps: 0, machine: 16_721).isEmpty)
        // Another term may exclude most rows that the index finds: 4,000 of 20,000 match one term, and 20 match both.
        let search = "SEARCH t0 USING INDEX byAlbum (ZALBUM=?)"
        let both = terms + [.init(keyPath: "album", operation: "==", operand: "object")]
        #expect(findings(both, isLimited: true, rows: 10, steps: 0, machine: 50_324, plan: search, times: 6).isEmpty)
        #expect(findings(terms, isLimited: true, rows: 10, steps: 0, machine: 16_721).isEmpty)
        let list = [ShapeEntry.Term(keyPath: "milliseconds", operation: "IN")]
        #expect(findings(list, isLimited: true, rows: 10, steps: 0, machine: 90_000, plan: search).isEmpty)
        // The limit returned all rows that matched.
        #expect(findings(terms, isLimited: true, rows: 100, steps: 0, machine: 4000).isEmpty)
    }

    @Test(arguments: [("USE TEMP B-TREE FOR ORDER BY", 1), ("USE TEMP B-TREE FOR LAST TERM OF ORDER BY", 0)])
    func `Without SQLite's counters, its plan shows the sort`(_ step: String, _ count: Int) {
        var music = Music()
        let shape = music.shape(sort: ["title ascending"])
        let plan = music.trace.define(
            .plan(PlanEntry(rows: [.init(id: 3, parent: 0, detail: "SCAN t0"), .init(id: 9, parent: 0, detail: step)])))
        let fetch = music.fetch(shape, rows: 900)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.plan) = (900, plan)
        music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        let found = Analysis(Profile(music.trace.closed()), rules: [SortRule()]).findings
        #expect(found.map { $0.evidence[2].value } == Array(repeating: 900, count: count))
    }

    /// Findings for a table with indexes that SQLite does not use to sort.
    private func findings(sort: [String], indexes: [String]) -> [Finding] {
        var music = Music()
        let album = ShapeEntry.Term(keyPath: "album", operation: "==", operand: "object")
        let fetch = music.fetch(music.shape("…", [album], sort: sort), rows: 900)
        var search = PlanEntry.Row(id: 3, parent: 0, detail: "SEARCH t0 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)")
        (search.table, search.indexes) = ("ZTRACK", indexes)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.sorts) = (900, 1)
        statement.plan = music.trace.define(.plan(PlanEntry(rows: [search])))
        statement.statement = music.trace.define(.statement(StatementEntry(sql: "SELECT … FROM ZTRACK t0")))
        music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        return Analysis(Profile(music.trace.closed()), rules: [SortRule()]).findings
    }

    @Test(arguments: [
        ["title ascending"], ["title descending"], ["title ascending", "milliseconds descending"],
        ["title descending", "milliseconds ascending"],
    ])
    func `An existing index in the sort order is not advised again`(_ sort: [String]) throws {
        let found = findings(sort: sort, indexes: ["ZALBUM", "ZALBUM,ZTITLE,ZMILLISECONDS DESC"])
        let finding = try #require(found.first)
        #expect(finding.title.text.hasPrefix("Run ANALYZE: SQLite sorts Track although the index on album, title"))
        #expect(finding.code == ["ANALYZE;"] && finding.severity == .warning)
        guard case .analyze = finding.remedy else { return #expect(Bool(false), "\(finding.remedy as Any)") }
    }

    @Test(arguments: [["title ascending", "milliseconds ascending"], ["milliseconds ascending"]])
    func `R19 advises an index even if one in another order exists`(_ sort: [String]) {
        let found = findings(sort: sort, indexes: ["ZALBUM", "ZALBUM,ZTITLE,ZMILLISECONDS DESC"])
        #expect(found.map { $0.title.text.hasPrefix("Index Track by album, ") } == [true])
    }

    @Test func `Sorts of at least 500 rows are reported`() {
        #expect(findings(rows: 500).count == 1)
        #expect(findings(rows: 499).isEmpty)
    }

    @Test func `Rows that a predicate excludes do not count as sorted`() {
        let terms = [ShapeEntry.Term(keyPath: "milliseconds", operation: ">")]
        #expect(findings(terms, rows: 3, steps: 100_000, times: 3).isEmpty)
        #expect(findings(terms, isLimited: true, rows: 10, steps: 1199).isEmpty)
        #expect(findings(terms, rows: 800, steps: 100_000).map { $0.evidence[2].value } == [800])
    }

    @Test func `Fetches that SQLite did not sort, or without a sort order, are not reported`() {
        #expect(findings(rows: 2000, sorts: 0).isEmpty)
        #expect(findings(sort: [], rows: 2000).isEmpty)
    }

    @Test func `The advised index has the columns compared for equality first`() {
        let terms: [ShapeEntry.Term] = [
            .init(keyPath: "title", operation: "CONTAINS"), .init(keyPath: "album", operation: "==", operand: "object"),
            .init(keyPath: "lyrics", operation: "==", isAlternative: true),
            .init(keyPath: "milliseconds", operation: ">"), .init(keyPath: "unknown", operation: "=="),
        ]
        let found = findings(sort: ["milliseconds ascending", "title ascending"], terms, rows: 1000)
        #expect(found.map(\.title.text) == ["Index Track by album, milliseconds, title to avoid the sort"])
        #expect(
            found.map(\.code) == [
                [#"FetchIndexDescription("byAlbumMillisecondsTitle", on: "album", "milliseconds", "title")"#]
            ])
        let mixed = findings(sort: ["milliseconds descending", "title ascending"], rows: 1000)
        #expect(
            mixed.map(\.code) == [
                [
                    #"FetchIndexDescription("byMillisecondsTitle", elements: [.init("milliseconds", isAscending: false), .init("title")])"#
                ]
            ])
    }

    /// The explanation after the first sentence, if SQLite seeks rows with an index and then sorts them.
    private func extended(_ plan: String, _ term: ShapeEntry.Term) -> [String]? {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape("…", [term], sort: ["title ascending"])
        let fetch = music.fetch(shape, rows: 900)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.sorts, statement.virtualMachineSteps) = (900, 1, 9000)
        statement.plan = music.trace.define(.plan(PlanEntry(rows: [.init(id: 3, parent: 0, detail: plan)])))
        statement.statement = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
        music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        let found = Analysis(Profile(music.trace.closed()), rules: [SortRule()]).findings
        return found.first.map { Array($0.explanation.map(\.text).dropFirst()) }
    }

    @Test func `R19 advises appending the sort keys to an index that seeks the rows`() {
        let length = ShapeEntry.Term(keyPath: "milliseconds", operation: "==")
        let plan = "SEARCH t0 USING INDEX Z_Track_byMilliseconds (ZMILLISECONDS=?)"
        #expect(
            extended(plan, length) == [
                "SQLite already seeks the rows with Z_Track_byMilliseconds. With the sort keys appended, this index "
                    + "also returns them in order."
            ])
        // A relationship's own index stays as it is, and an index on other columns does not help.
        let album = ShapeEntry.Term(keyPath: "album", operation: "==", operand: "object")
        #expect(extended("SEARCH t0 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)", album) == [])
        #expect(extended("SEARCH t0 USING INDEX Z_Track_byTitle (ZTITLE=?)", length) == [])
        #expect(extended("SEARCH t0 USING INDEX Z_Track_byMilliseconds (ZMILLISECONDS>?)", length) == [])
        #expect(extended("SCAN t0 USING INDEX Z_Track_byMilliseconds", length) == [])
    }

    @Test func `An order that no index can have is a note that explains why`() {
        let localized = findings(sort: ["title localized ascending"], rows: 2000)
        #expect(localized.map(\.severity) == [.note] && localized.map(\.code) == [[]])
        #expect(localized.map(\.title.text) == ["Avoid sorting 2,000 rows of Track by title in each fetch"])
        #expect(
            localized.first?.reservations.map(\.text).first?.contains("sorted by another collation (localized)") == true
        )
        let other = findings(sort: ["album.title ascending"], rows: 2000)
        #expect(other.map(\.severity) == [.note])
        #expect(other.first?.reservations.map(\.text).first?.hasPrefix("album.title is in another table") == true)
    }

    @Test func `A cost that is not proven is not projected if there is only one fetch`() {
        // Nearly all of the time goes elsewhere.
        let found = findings(rows: 600, duration: 400_000_000)
        #expect(found.map(\.severity) == [.warning])
        #expect(
            found.map { $0.reservations.map(\.text) } == [
                [
                    "Cost not proven at this size: less than 1 % of the time that the work took."
                ]
            ])
    }
}
