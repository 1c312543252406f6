import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R06: a missing index")
struct MissingIndexRuleTests {
    private typealias Term = ShapeEntry.Term
    private static let length = Term(keyPath: "milliseconds", operation: "==")

    /// Adds fetches with SQLite's counters and plan.
    private func add(
        _ terms: [Term], sort: [String] = [], rows: UInt32, steps: UInt32, times: Int, line: Int = 42,
        duration: UInt64 = 1_000_000, plan: [String] = ["SCAN t0"], to music: inout Music
    ) {
        let shape = music.shape("…\(line)", terms, sort: sort)
        let site = music.trace.site(line, "tracks()")
        let plan = music.trace.define(
            .plan(PlanEntry(rows: plan.enumerated().map { .init(id: $0, parent: 0, detail: $1) })))
        let text = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
        for _ in 0..<times {
            let fetch = music.fetch(shape, rows: rows, site: site, duration: duration)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.plan) = (rows, steps, plan)
            statement.statement = text
            statement.sorts = sort.isEmpty ? 0 : 1
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
    }

    private func findings(_ music: Music) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: [MissingIndexRule(), SortRule()]).findings
    }

    private func findings(
        _ terms: [Term] = [length], sort: [String] = [], rows: UInt32 = 12, steps: UInt32 = 3502, times: Int = 40,
        duration: UInt64 = 1_000_000
    ) -> [Finding] {
        var music = Music()
        add(terms, sort: sort, rows: rows, steps: steps, times: times, duration: duration, to: &music)
        return findings(music)
    }

    /// Findings for fetches for which SQLite builds an automatic index.
    private func automatic(
        _ rows: UInt32, times: Int = 20, step: String = "SEARCH t1 USING AUTOMATIC COVERING INDEX (ZTITLE=?)",
        sql: String = "SELECT … FROM ZALBUM t0 LEFT OUTER JOIN ZTRACK t1 ON t0.ZTITLE = t1.ZTITLE",
        change: (inout Music) -> Void = { _ in }
    ) -> [Finding] {
        var music = Music()
        let plan = PlanEntry(rows: [
            .init(id: 1, parent: 0, detail: "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"),
            .init(id: 2, parent: 0, detail: step),
        ])
        let (planID, text) = (
            music.trace.define(.plan(plan)), music.trace.define(.statement(StatementEntry(sql: sql)))
        )
        for _ in 0..<times {
            let fetch = music.fetch(music.shape("…"), rows: 3, duration: 2_000_000)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.plan, statement.statement) = (3, planID, text)
            statement.automaticIndexes = rows
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
        change(&music)
        return findings(music)
    }

    @Test func `An automatic index that SQLite builds for every fetch is reported`() throws {
        let found = automatic(3000)
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.rule == "R06" && finding.severity == .warning)
        #expect(finding.title.text == "Index Track by title")
        #expect(finding.code == [#"FetchIndexDescription("byTitle", on: "title")"#])
        #expect(
            finding.explanation.map(\.text) == [
                "For 20 fetches, SQLite built an index on ZTRACK by ZTITLE and discarded it: 3,000 rows each time."
            ])
        #expect(finding.saving.time == Saving.Range(median: 24e6, low: 12e6, high: 40e6))
        #expect(finding.remedy.map { if case .index = $0 { true } else { false } } == true)
        #expect(automatic(499).isEmpty)
        #expect(automatic(500).count == 1)
        #expect(automatic(3000, step: "SEARCH (subquery-1) USING AUTOMATIC COVERING INDEX (ZTITLE=?)").isEmpty)
    }

    @Test func `R06 advises SQL for an index that a store has lost, and for a table without a known entity`() throws {
        let lost = try #require(
            automatic(3000, step: "SEARCH t1 USING AUTOMATIC COVERING INDEX (ZALBUM=?)").first)
        #expect(lost.title.text == "Index Track by album")
        #expect(lost.code == ["CREATE INDEX ZTRACK_ZALBUM_INDEX ON ZTRACK (ZALBUM);"])
        #expect(lost.fix.text.hasSuffix("New stores have one for each relationship; this store has lost it."))
        let unknown = try #require(
            automatic(3000, sql: "SELECT … FROM ZALBUM t0 JOIN ZSONG t1 ON t0.ZTITLE = t1.ZTITLE").first)
        #expect(unknown.title.text == "Index ZSONG by ZTITLE")
        #expect(unknown.code == ["CREATE INDEX ZSONG_ZTITLE_INDEX ON ZSONG (ZTITLE);"] && unknown.remedy == nil)
    }

    @Test func `A full table scan that returns few rows is reported`() throws {
        let found = findings()
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R06" && finding.severity == .warning && finding.confidence.level == .medium)
        #expect(finding.title.text == "Index Track by milliseconds")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == [#"FetchIndexDescription("byMilliseconds", on: "milliseconds")"#])
        #expect(
            finding.explanation.map(\.text) == [
                "40 fetches scanned about 3,503 rows each to find 480 in all: SQLite's plan is SCAN t0.",
                "SQLite takes 1.00 ms per fetch, and ten times as long with ten times the rows.",
            ])
        #expect(abs(finding.saving.time.median - Self.saved(40_000_000, scanned: 3503, found: 12)) < 1)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "executions": 40, "rows": 480, "fullScanSteps": 140_080, "fetchTime": 40_000_000,
                "stepTime": 40_000_000,
                "writtenRows": 0,
            ])
    }

    /// The time of a scan that an index saves.
    ///
    /// SQLite takes 7 times as long to return a row as to step over one, and 6 times as long to seek one.
    private static func saved(_ time: Double, scanned: Double, found: Double) -> Double {
        time / (scanned + 7 * found) * (scanned - found - 6 * found)
    }

    @Test func `Fetches of more than 10 % of a table are not reported`() {
        #expect(findings(rows: 351, steps: 3502).isEmpty)
        #expect(findings(rows: 350, steps: 3502).map(\.severity) == [.warning])
        #expect(findings(steps: 0).isEmpty)
    }

    @Test func `Counts of up to 30 % of a table are reported`() {
        func titles(rows: UInt32) -> [String] {
            counted([Self.length], rows: rows, resultType: "count") { _ in }.map(\.title.text)
        }
        #expect(titles(rows: 900) == ["Index Track by milliseconds"])
        #expect(titles(rows: 901).isEmpty)
    }

    @Test func `A small table that is scanned repeatedly is a note`() throws {
        #expect(findings(rows: 5, steps: 499).map(\.severity) == [.warning])
        let small = try #require(findings(rows: 5, steps: 498).first)
        #expect(small.severity == .note)
        #expect(small.reservations.map(\.text) == ["A table of fewer than 500 rows is scanned quickly."])
        #expect(
            small.explanation.map(\.text).contains(
                "SQLite takes 1.00 ms per fetch, and ten times as long with ten times the rows."))
        // At least 1,000 steps in all, and 10 for each row found.
        #expect(findings(rows: 5, steps: 99, times: 10).isEmpty)
        #expect(findings(rows: 5, steps: 100, times: 10).count == 1)
        #expect(findings(rows: 12, steps: 100, times: 40).isEmpty)
    }

    @Test func `One scan of a large table is reported only if the plan shows it`() {
        #expect(findings(rows: 1, steps: 600, times: 1).map(\.severity) == [.warning])
        var music = Music()
        add([Self.length], rows: 1, steps: 600, times: 1, plan: [], to: &music)
        #expect(findings(music).isEmpty)
        add([Self.length], rows: 1, steps: 600, times: 1, plan: [], to: &music)
        #expect(findings(music).count == 1)
    }

    @Test func `The saving excludes the cost of seeking the rows found`() throws {
        let few = try #require(findings(rows: 12, steps: 3502, times: 1).first)
        #expect(abs(few.saving.time.median - Self.saved(1_000_000, scanned: 3503, found: 12)) < 1)
        let many = try #require(findings(rows: 300, steps: 3502, times: 1).first)
        #expect(abs(many.saving.time.median - Self.saved(1_000_000, scanned: 3503, found: 300)) < 1)
        #expect(many.saving.time.low == 0)
    }

    @Test func `Terms that no index can serve are not reported`() {
        #expect(findings([Term(keyPath: "title", operation: "CONTAINS")]).isEmpty)
        #expect(findings([Term(keyPath: "title", operation: "==", options: "cd")]).isEmpty)
        #expect(findings([Term(keyPath: "milliseconds", operation: "==", isAlternative: true)]).isEmpty)
        #expect(findings([Term(keyPath: "milliseconds", operation: "==", isNegated: true)]).isEmpty)
        #expect(findings([Term(keyPath: "milliseconds", operation: "!=")]).isEmpty)
        #expect(findings([Term(keyPath: "milliseconds", operation: ">", operand: "expression")]).isEmpty)
        #expect(findings([Term(keyPath: "self", operation: "==", operand: "object")]).isEmpty)
        #expect(findings([]).isEmpty)
    }

    @Test func `The advised index has the equalities first, then one range and nothing else`() {
        let album = Term(keyPath: "album", operation: "IN", operand: "object")
        let range = Term(keyPath: "title", operation: "BEGINSWITH")
        #expect(
            findings([range, Self.length, album]).map(\.title.text) == ["Index Track by album, milliseconds, title"])
        #expect(findings([range], sort: ["milliseconds ascending"]).map(\.rule) == ["R06"])
        #expect(findings([range], sort: ["milliseconds ascending"]).map(\.title.text) == ["Index Track by title"])
    }

    @Test func `If more properties are compared than an index has, the least selective one is left out`() throws {
        let terms = ["album", "lyrics", "milliseconds", "title"].map { Term(keyPath: $0, operation: "==") }
        func found(
            rows: UInt32, isLimited: Bool = false, by other: [Term]? = nil, comparing count: Int = 4
        ) throws -> Finding {
            var music = Music()
            let shape = music.shape("other", other ?? [terms[0]], isLimited: isLimited)
            let text = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
            let fetch = music.fetch(shape, rows: rows, duration: 1_000_000)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.statement) = (rows, 999, text)
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
            add(Array(terms.prefix(count)), rows: 3, steps: 2000, times: 20, line: 99, to: &music)
            return try #require(findings(music).first { $0.change?.line == 99 })
        }
        let many = try found(rows: 301)
        #expect(many.title.text == "Index Track by lyrics, milliseconds, title")
        #expect(
            many.explanation.map(\.text).contains(
                "album is left out: fetches that compare only this property return 30 % of the table."))
        let list = Term(keyPath: "album", operation: "IN", operand: "object")
        for other in [
            try found(rows: 300), try found(rows: 301, isLimited: true), try found(rows: 301, by: [list]),
            try found(rows: 301, by: Array(terms.prefix(2))),
        ] {
            #expect(other.title.text == "Index Track by album, lyrics, milliseconds")
            #expect(!other.explanation.map(\.text).contains { $0.contains("left out") })
        }
        // If the index has room, the property is included.
        #expect(try found(rows: 301, comparing: 3).title.text == "Index Track by album, lyrics, milliseconds")
    }

    /// Findings for a profile whose plans show the indexes of tracks.
    private func needless(
        _ plans: [String]..., unique: [String]? = nil, table: String? = "ZTRACK", written: UInt32 = 0
    ) -> [Finding] {
        var music = Music()
        for indexes in plans {
            let step = PlanEntry.Row(
                id: 1, parent: 0, detail: "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)", table: table,
                indexes: indexes, uniqueIndexes: unique)
            _ = music.trace.define(.plan(PlanEntry(rows: [step])))
        }
        var save = TraceEvent.Save()
        (save.inserted, save.trips) = (written, written + 4)
        save.entities = [.init(entity: music.track, inserted: UInt64(written), updated: 0, deleted: 0)]
        music.trace.event(.save(save), duration: 5_000_000)
        return findings(music)
    }

    @Test func `R06 advises dropping an index whose columns are a prefix of another one's`() throws {
        let found = needless(["ZALBUM", "ZTITLE", "ZTITLE,ZMILLISECONDS"], written: 4000)
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.rule == "R06" && finding.severity == .note)
        #expect(finding.title.text == "Drop the index of Track by title")
        #expect(
            finding.fix.text
                == "The index on title, milliseconds serves the same queries. Every written row pays for both.")
        #expect(
            finding.explanation.map(\.text) == [
                "Its columns are the first columns of the other index. Maintaining it costs about 2.00 µs per written "
                    + "row; "
                    + "4,000 rows were written."
            ])
        #expect(needless(["ZTITLE", "ZTITLE,ZLYRICS"], written: 5000).map(\.severity) == [.warning])
        #expect(needless(["ZTITLE"], ["ZTITLE,ZLYRICS", "ZTITLE"]).isEmpty)
        #expect(needless(["ZLYRICS"], ["ZTITLE", "ZTITLE,ZLYRICS"]).count == 1)
    }

    @Test func `Unique indexes, the store's own indexes, and indexes in another order are not reported`() {
        #expect(needless(["ZTITLE", "ZTITLE,ZLYRICS"], unique: ["ZTITLE"]).isEmpty)
        #expect(needless(["ZALBUM", "ZALBUM,ZTITLE"]).isEmpty)
        #expect(needless(["Z_ENT", "Z_ENT,ZTITLE"]).isEmpty)
        #expect(needless(["ZTITLE", "ZTITLE COLLATE NOCASE,ZLYRICS"]).isEmpty)
        #expect(needless(["ZTITLE", "ZTITLE DESC,ZLYRICS"]).isEmpty)
        #expect(needless(["ZTITLE", "ZLYRICS,ZTITLE"]).isEmpty)
        #expect(needless(["ZTITLE", "ZTITLE,ZLYRICS"], table: nil).isEmpty)
        // If the trace does not have the entity of a table, the indexes that the store creates are unknown.
        #expect(needless(["ZTITLE", "ZTITLE,ZLYRICS"], table: "ZSONG").isEmpty)
    }

    @Test func `Indexes in different traces are not assumed to exist at the same time`() throws {
        func profile(_ indexes: [String]) -> Profile {
            var music = Music()
            let step = PlanEntry.Row(id: 1, parent: 0, detail: "SCAN t0", table: "ZTRACK", indexes: indexes)
            _ = music.trace.define(.plan(PlanEntry(rows: [step])))
            return Profile(music.trace.closed())
        }
        func drops(_ profiles: [Profile]) throws -> [String] {
            var sum = Profile()
            for profile in profiles { try sum.merge(profile) }
            let again = try Profile(fileData: sum.fileData())
            return Analysis(again, rules: [MissingIndexRule()]).findings.map(\.title.text)
        }
        let (before, after) = (profile(["ZTITLE"]), profile(["ZTITLE,ZLYRICS"]))
        let both = profile(["ZTITLE", "ZTITLE,ZLYRICS"])
        #expect(try drops([before, after]).isEmpty && drops([after, before, both]).isEmpty)
        #expect(try drops([both, after, both]) == ["Drop the index of Track by title"])
    }

    @Test func `The advised index includes the sort keys, so SQLite need not sort the rows`() {
        let found = findings(sort: ["title descending", "lyrics ascending"], rows: 200)
        #expect(found.map(\.rule) == ["R06"])
        #expect(
            found.map(\.code) == [
                [
                    #"FetchIndexDescription("byMillisecondsTitleLyrics", elements: [.init("milliseconds"), .init("title"), .init("lyrics", isAscending: false)])"#
                ]
            ])
        let localized = findings(sort: ["title localized ascending"], rows: 200)
        #expect(localized.map(\.title.text).contains("Index Track by milliseconds"))
    }

    @Test func `Fetches that one index serves are one finding, at the line that takes longest`() throws {
        var music = Music()
        let album = Term(keyPath: "album", operation: "==", operand: "object")
        add([Self.length], rows: 3, steps: 2000, times: 5, line: 10, duration: 300_000, to: &music)
        add([album, Self.length], rows: 3, steps: 2000, times: 5, line: 20, to: &music)
        add(
            [Self.length, album], sort: ["title ascending"], rows: 3, steps: 2000, times: 5, line: 30,
            duration: 2_000_000, to: &music)
        let found = findings(music)
        // An index that begins with the album cannot seek a length.
        #expect(
            found.map(\.title.text) == ["Index Track by album, milliseconds, title", "Index Track by milliseconds"])
        let finding = try #require(found.first)
        #expect(finding.change?.line == 30 && finding.seenAt.map(\.site?.line) == [20])
        #expect(
            finding.explanation.map(\.text)[0].hasPrefix(
                "10 fetches scanned about 2,001 rows each to find 30 in all"))
    }

    @Test func `The cost of maintaining the index reduces the saving`() throws {
        func found(written: UInt32) -> Finding? {
            var music = Music()
            add([Self.length], rows: 12, steps: 3502, times: 40, to: &music)
            var save = TraceEvent.Save()
            (save.inserted, save.trips) = (written, written + 4)
            save.entities = [.init(entity: music.track, inserted: UInt64(written), updated: 0, deleted: 0)]
            music.trace.event(.save(save), duration: 5_000_000)
            return findings(music).first
        }
        let cheap = try #require(found(written: 1000))
        #expect(abs(cheap.saving.time.median - (Self.saved(40_000_000, scanned: 3503, found: 12) - 2_000_000)) < 1)
        #expect(
            cheap.explanation.map(\.text).last
                == "Maintaining the index costs about 2.00 µs per written row; 1,000 rows were written.")
        let dear = try #require(found(written: 30_000))
        #expect(dear.severity == .note && dear.saving.time.median == 0)
        #expect(dear.reservations.map(\.text).first == "Maintaining the index would cost more than it saves here.")
    }

    @Test func `Updates of other columns do not maintain the index`() throws {
        func written(_ sql: String) throws -> String {
            var music = Music()
            add([Self.length], rows: 12, steps: 3502, times: 40, to: &music)
            var save = TraceEvent.Save()
            (save.updated, save.trips) = (9000, 3)
            save.entities = [.init(entity: music.track, updated: 9000)]
            let parent = music.trace.event(.save(save), duration: 5_000_000)
            var update = TraceEvent.Statement()
            update.statement = music.trace.define(.statement(StatementEntry(sql: sql)))
            (update.type, update.rows) = (.write, 9000)
            music.trace.event(.sql(update), duration: 4_000_000, parent: parent)
            return try #require(findings(music).first?.explanation.last).text
        }
        #expect(try written("UPDATE ZTRACK SET ZMILLISECONDS = ? WHERE Z_PK = ?").contains("9,000 rows were written"))
        #expect(try !written("UPDATE ZTRACK SET ZTITLE = ?, Z_OPT = ? WHERE Z_PK = ?").contains("written"))
    }

    @Test func `A finding on little data says that its cost is not proven`() {
        var music = Music()
        add([Self.length], rows: 12, steps: 600, times: 2, duration: 20_000, to: &music)
        music.trace.now += 1_000_000_000
        let found = findings(music)
        #expect(found.map(\.severity) == [.warning])
        #expect(
            found.first?.reservations.map(\.text) == [
                "Cost not proven at this size: less than 1 % of the time that the work took."
            ])
    }

    @Test func `Ascending and descending sorts share one index`() {
        var music = Music()
        for (line, sort) in [(10, "title ascending"), (20, "title descending"), (30, "")] {
            add([Self.length], sort: sort.isEmpty ? [] : [sort], rows: 3, steps: 2000, times: 5, line: line, to: &music)
        }
        #expect(findings(music).map(\.title.text) == ["Index Track by milliseconds, title"])
    }

    @Test func `A scan of another table does not count as one of the fetched table`() {
        func titles(_ plan: [String]) -> [String] {
            var music = Music()
            add([Self.length], rows: 3, steps: 2000, times: 5, plan: plan, to: &music)
            return findings(music).map(\.title.text)
        }
        #expect(
            titles(["SEARCH t0 USING INDEX byMilliseconds (ZMILLISECONDS=?)", "LIST SUBQUERY 1", "SCAN t1"]).isEmpty)
        #expect(titles(["SCAN t0 USING INDEX byTitle"]) == ["Index Track by milliseconds"])
    }

    // MARK: - Costs that an index cannot change

    /// Findings for fetches with SQLite's counters.
    private func counted(
        _ terms: [Term], rows: UInt32, steps: UInt32 = 2999, times: Int = 10, isLimited: Bool = false,
        sort: [String] = [], expressions: [String]? = nil, resultType: String = "objects",
        entity: String = "Track", plan: [String] = ["SCAN t0"],
        sql: String = "SELECT … FROM ZTRACK t0", _ change: (inout TraceEvent.Fetch) -> Void = { _ in },
        _ count: (inout TraceEvent.Statement) -> Void
    ) -> [Finding] {
        var music = Music()
        let shape = music.trace.define(
            .shape(
                ShapeEntry(
                    entity: entity, predicate: "…", sort: sort, isLimited: isLimited,
                    resultType: expressions == nil ? resultType : "dictionaries", expressions: expressions, terms: terms
                )
            ))
        let plan = music.trace.define(
            .plan(PlanEntry(rows: plan.enumerated().map { .init(id: $0, parent: 0, detail: $1) })))
        let text = music.trace.define(.statement(StatementEntry(sql: sql)))
        for _ in 0..<times {
            let fetch = music.fetch(shape, rows: rows, duration: 30_000_000, change)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps) = (rows, steps)
            (statement.plan, statement.statement) = (plan, text)
            count(&statement)
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
        return Analysis(Profile(music.trace.closed()), rules: [MissingIndexRule()]).findings
    }

    @Test func `Waiting, prefetching and making objects do not count as a saving`() throws {
        let found = counted([Self.length], rows: 12) {
            ($0.wait, $0.prepare, $0.step, $0.materialise) = (29_000_000, 20_000, 280_000, 700_000)
        } _: { _ in
        }
        let finding = try #require(found.first)
        // Ten statements of 280 µs.
        #expect(abs(finding.saving.time.median - Self.saved(2_800_000, scanned: 3000, found: 12)) < 1)
        #expect(finding.saving.time.high <= 2_800_000)
        #expect(finding.evidence.first { $0.name == "stepTime" }?.value == 2_800_000)
        #expect(finding.explanation.map(\.text).contains { $0.hasPrefix("SQLite takes 280 µs per fetch,") })
        // Without SQLite's own time, it is the time that the other parts leave.
        let rest = try #require(
            counted([Self.length], rows: 12) {
                ($0.wait, $0.materialise) = (29_000_000, 600_000)
            } _: { _ in
            }.first)
        #expect(abs(rest.saving.time.median - Self.saved(4_000_000, scanned: 3000, found: 12)) < 1)
    }

    @Test func `An index on an unselective term is not advised, however few rows a search leaves`() {
        let title = Term(keyPath: "title", operation: "CONTAINS")
        func titles(_ terms: [Term], compared: UInt32) -> [String] {
            counted(terms, rows: 5) { $0.textComparisons = compared }.map(\.title.text)
        }
        // Four fifths of the rows match the length and are searched.
        #expect(titles([Self.length, title], compared: 2400).isEmpty)
        #expect(titles([Self.length, title], compared: 301).isEmpty)
        #expect(titles([Self.length, title], compared: 300) == ["Index Track by milliseconds"])
        // A search before the term does not show how selective the term is.
        #expect(titles([title, Self.length], compared: 3000) == ["Index Track by milliseconds"])
    }

    @Test func `An index on a term also avoids searching texts that the term would exclude later`() throws {
        let title = Term(keyPath: "title", operation: "CONTAINS")
        // Of 1,000 texts that matched, 5 match the length: so do 0.5 % of all rows.
        func saving(_ terms: [Term], matched: UInt32 = 1000) throws -> Saving.Range {
            let found = counted(terms, rows: 5) {
                $0.step = 20_000_000
            } _: {
                ($0.textComparisons, $0.textMatches) = (3000, matched)
            }
            return try #require(found.first).saving.time
        }
        let searched = try saving([title, Self.length])
        #expect(abs(searched.high - 10 * 20_000_000 * 0.995) < 1)
        #expect(searched.low > 10 * 20_000_000 / 3 && searched.median < searched.high)
        // Every text that matched also matches the length: nothing is known about the others.
        #expect(try saving([title, Self.length], matched: 5).high < searched.low)
        // A negated search shows nothing about the term.
        var not = title
        not.isNegated = true
        #expect(try saving([not, Self.length]).high < searched.low)
    }

    @Test func `Rows that SQLite sums count as found`() {
        func titles(steps: UInt64, _ expressions: [String] = ["sum:(milliseconds)"]) -> [String] {
            counted([Self.length], rows: 1, expressions: expressions) { $0.virtualMachineSteps = steps }.map(
                \.title.text)
        }
        // SQLite took 9,000 steps to scan 3,000 rows, and two more for each row that it summed.
        #expect(titles(steps: 9000 + 2 * 2400).isEmpty)
        #expect(titles(steps: 9000 + 2 * 300) == ["Index Track by milliseconds"])
        #expect(titles(steps: 9000 + 4 * 300, ["sum:(milliseconds)", "max:(milliseconds)"]).count == 1)
    }

    @Test func `The index advised for a fetch with a limit includes the sort order`() {
        let sort = ["title ascending"]
        let index = counted([Self.length], rows: 20, isLimited: true, sort: sort) { $0.textComparisons = 0 }
        #expect(index.map(\.title.text) == ["Index Track by milliseconds, title"])
    }

    // MARK: - Joined tables

    @Test func `R06 advises an index on a joined table that is fully scanned`() throws {
        let sql = "SELECT … FROM ZTRACK t0 JOIN ZALBUM t1 ON t0.ZALBUM = t1.Z_PK WHERE t1.ZTITLE = ?"
        let title = Term(keyPath: "album.title", operation: "==")
        let plan = ["SCAN t1", "SEARCH t0 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)"]
        let found = counted([title], rows: 12, plan: plan, sql: sql) { _ in }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.title.text == "Index Album by title")
        #expect(finding.code == [#"FetchIndexDescription("byTitle", on: "title")"#])
        #expect(finding.explanation.map(\.text)[0].hasSuffix("SQLite's plan is SCAN t1 (ZALBUM)."))
        // SQLite scans the fetch's own table as long as it cannot seek the rows of the other one.
        let other = counted(
            [title], rows: 12, plan: ["SCAN t0", "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"], sql: sql
        ) { _ in }
        #expect(other.map(\.title.text) == ["Index Album by title"])
        #expect(counted([title], rows: 901, plan: plan, sql: sql) { _ in }.isEmpty)
        #expect(counted([title], rows: 12, steps: 400, plan: plan, sql: sql) { _ in }.isEmpty)
        for term in [
            Term(keyPath: "album.title", operation: "CONTAINS"), Term(keyPath: "album.title", operation: "!="),
            Term(keyPath: "album.title", operation: "==", isAlternative: true),
            Term(keyPath: "album.tracks", operation: "=="), Term(keyPath: "band.title", operation: "=="),
        ] { #expect(counted([term], rows: 12, plan: plan, sql: sql) { _ in }.isEmpty) }
    }

    @Test func `A table behind a to-many relationship is reported only if it is the one that is scanned`() {
        let length = Term(keyPath: "tracks.milliseconds", operation: "ANY ==")
        let sql = "SELECT … FROM ZALBUM t0 WHERE EXISTS(SELECT 1 FROM ZTRACK t1 WHERE …)"
        func titles(_ plan: [String]) -> [String] {
            counted([length], rows: 12, entity: "Album", plan: plan, sql: sql) { _ in }.map(\.title.text)
        }
        #expect(titles(["SEARCH t0 USING INTEGER PRIMARY KEY", "SCAN t1"]) == ["Index Track by milliseconds"])
        #expect(titles(["SCAN t0", "SEARCH t1 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)"]).isEmpty)
    }

    @Test func `An index that a joined table already has is not advised again`() {
        var music = Music()
        let title = Term(keyPath: "album.title", operation: "==")
        let shape = music.shape("…", [title])
        let sql = "SELECT … FROM ZTRACK t0 JOIN ZALBUM t1 ON t0.ZALBUM = t1.Z_PK WHERE t1.ZTITLE = ?"
        let text = music.trace.define(.statement(StatementEntry(sql: sql)))
        let step = PlanEntry.Row(id: 1, parent: 0, detail: "SCAN t1", table: "ZALBUM", indexes: ["ZTITLE"])
        let plan = music.trace.define(.plan(PlanEntry(rows: [step])))
        for _ in 0..<5 {
            let fetch = music.fetch(shape, rows: 3, duration: 1_000_000)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.plan, statement.statement) = (3, 2999, plan, text)
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
        #expect(findings(music).isEmpty)
    }
}
