import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R07: predicate order")
struct PredicateOrderRuleTests {
    private typealias Term = ShapeEntry.Term
    private static let text = Term(keyPath: "title", operation: "CONTAINS", options: "cd")
    private static let length = Term(keyPath: "milliseconds", operation: ">")

    private func analysis(
        _ terms: [Term] = [text, length], rows: UInt32 = 50, steps: UInt32 = 3499, compared: UInt32 = 3500,
        matched: UInt32 = 500, times: Int = 10, duration: UInt64 = 3_000_000, step: UInt64 = 0, pageMisses: UInt32 = 0,
        machine: [CalibrationEntry.Step: Double] = [:], rules: [any Rule] = [PredicateOrderRule()]
    ) -> Analysis {
        var music = Music()
        _ = music.trace.define(.calibration(CalibrationEntry(trips: [], steps: machine)))
        let shape = music.shape("…", terms)
        for _ in 0..<times {
            let fetch = music.fetch(shape, rows: rows, duration: duration) { $0.step = step }
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps) = (rows, steps)
            (statement.textComparisons, statement.textMatches) = (compared, matched)
            statement.pageMisses = pageMisses
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        }
        return Analysis(Profile(music.trace.closed()), rules: rules)
    }

    @Test func `The cost of searching follows from SQLite's own time, without waits`() throws {
        let finding = try #require(analysis(duration: 300_000_000, step: 2_000_000).findings.first)
        // Apart from the scan and the returned rows, most of it is searching.
        let searching = Double(2_000_000 - (60 * 3500 + 50 * 500))
        let gain = { (share: Double) in 10 * (share * searching / 3500 * 3150 - 40 * 3000) }
        #expect(abs(finding.saving.time.median - gain(0.85)) < 1)
        #expect(abs(finding.saving.time.low - gain(0.5)) < 1 && abs(finding.saving.time.high - gain(1)) < 1)
    }

    @Test func `Reading pages does not count as searching if the cost of a page was measured`() throws {
        func saving(_ misses: UInt32, _ machine: [CalibrationEntry.Step: Double]) throws -> Double {
            let analysis = analysis(step: 2_800_000, pageMisses: misses, machine: machine)
            return try #require(analysis.findings.first).saving.time.median
        }
        #expect(try saving(1000, [:]) == saving(0, [:]))
        let none = try saving(0, [.page: 1000])
        let some = try saving(1000, [.page: 1000])
        // Each of 10 fetches reads 1,000 pages of at least 800 ns; nine tenths of the texts need not be compared.
        #expect(abs(none - some - 10 * 0.85 * 0.9 * 800_000) < 1)
    }

    @Test func `A finding keeps the saving of its change alone, and names the finding that reduces it`() throws {
        let found = analysis(step: 2_800_000, rules: [PredicateOrderRule(), TextSearchRule()]).findings
        #expect(found.map(\.rule) == ["R08", "R07"])
        #expect(found[0].saving.alone == nil && found[0].saving.after == [])
        let alone = try #require(found[1].saving.alone)
        #expect(alone.median > 10 * 1_500_000)
        #expect(found[1].saving.after == [1])
        // Together they save no more than the fetches' time.
        #expect(found.reduce(0) { $0 + $1.saving.time.median } <= 10 * 3_000_000)
        #expect(found[1].saving.time.median < alone.median)
    }

    @Test func `A text search before a comparison of a number is reported`() throws {
        let found = analysis().findings
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R07" && finding.severity == .warning)
        #expect(finding.title.text == "Compare milliseconds before title in the predicate of Track")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["milliseconds > ? AND title CONTAINS[cd] ?"])
        #expect(
            finding.explanation.map(\.text) == [
                "10 fetches compared 3,500 texts each, of which 500 passed; 10 % of these also match the other terms.",
                "In the other order, SQLite compares about 350 texts.",
            ])
        // Nine tenths of the text comparisons are replaced by 3,000 comparisons of numbers. A text is assumed to take
        // 300 ns, and at most the fetch's time without its trip, its rows and 60 ns for each scanned row.
        let others = 10_000 + 50 * 1000 + 60 * 3500
        let searching = Double(3_000_000 - others)
        let gain = { (text: Double) in 10 * (text * 3150 - 40 * 3000) }
        #expect(abs(finding.saving.time.median - gain(300)) < 1)
        #expect(abs(finding.saving.time.low - gain(100)) < 1)
        #expect(finding.saving.time.high >= gain(searching / 3500) - 1 && finding.saving.time.high < gain(1000))
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "executions": 10, "rows": 500, "fullScanSteps": 34_990, "textComparisons": 35_000, "textMatches": 5000,
                "fetchTime": 30_000_000,
            ])
    }

    @Test func `Cheap terms that more than 90 % of the rows match are not reported`() {
        #expect(analysis(rows: 450).findings.count == 1)
        #expect(analysis(rows: 451).findings.isEmpty)
    }

    @Test func `A good order, a single term, an OR, and cheap or joined terms are not reported`() {
        #expect(analysis([Self.length, Self.text], compared: 350, matched: 50).findings.isEmpty)
        #expect(analysis([Self.text]).findings.isEmpty)
        var either = [Self.text, Self.length]
        for place in either.indices { either[place].isAlternative = true }
        #expect(analysis(either).findings.isEmpty)
        // Texts that are compared byte by byte, or are stored folded, are cheap themselves.
        #expect(analysis([Term(keyPath: "title", operation: "=="), Self.length]).findings.isEmpty)
        var folded = Self.text
        (folded.operation, folded.isFolded) = ("==", true)
        #expect(analysis([folded, Self.length]).findings.isEmpty)
        // A column of another table is unknown before the join.
        #expect(analysis([Self.text, Term(keyPath: "album.year", operation: ">")]).findings.isEmpty)
    }

    @Test func `Order is not reported if an index seeks the rows or fewer than 500 rows are scanned`() {
        #expect(analysis(steps: 0).findings.isEmpty)
        #expect(analysis(steps: 498, compared: 499, matched: 100).findings.isEmpty)
        #expect(analysis(steps: 499, compared: 500, matched: 100).findings.count == 1)
    }

    @Test func `Numbers and relationships are cheap, and keep their order in the advised predicate`() {
        let album = Term(keyPath: "album", operation: "==", operand: "object")
        var negated = Self.text
        negated.isNegated = true
        let found = analysis([negated, Self.length, album], rows: 300).findings
        #expect(found.map(\.code) == [["milliseconds > ? AND album == ? AND NOT (title CONTAINS[cd] ?)"]])
        // The 3,000 rows that do not contain the text passed.
        #expect(
            found.first?.explanation.map(\.text).first
                == "10 fetches compared 3,500 texts each, of which 3,000 passed; 10 % of these also match the other "
                + "terms."
        )
    }

    private static let lyrics = Term(keyPath: "lyrics", operation: "CONTAINS", options: "cd")

    /// Findings for two searches: 3,500 rows are scanned, 3,000 match the first search, and 300 match both.
    private func searches(
        _ terms: [Term] = [lyrics, text], rows: UInt32 = 300, compared: UInt32 = 6500, steps: UInt32 = 3499
    ) -> [Finding] {
        analysis(terms, rows: rows, steps: steps, compared: compared, matched: 0).findings
    }

    @Test func `A search before a more selective search is reported`() throws {
        let found = searches()
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.severity == .warning && finding.confidence.level == .low)
        #expect(finding.title.text == "Search title before lyrics in the predicate of Track")
        #expect(finding.code == ["title CONTAINS[cd] ? AND lyrics CONTAINS[cd] ?"])
        #expect(
            finding.explanation.map(\.text) == [
                "10 fetches searched lyrics in 3,500 rows each, and 86 % of them matched; 10 % of these also matched in title."
            ])
        // 3,500 and 350 texts instead of 3,500 and 3,000, as a share of the fetches' time without their rows.
        let others = 10_000 + 300 * 1000 + 60 * 3500
        let saving = 10 * Double(3_000_000 - others) * (1 - 3850.0 / 6500)
        #expect(abs(finding.saving.time.median - saving) < 1)
        #expect(finding.saving.time.low <= finding.saving.time.median / 2)
    }

    @Test func `Searches in a good order, with OR, or of similar or unknown selectivity are not reported`() {
        #expect(searches(rows: 2000).isEmpty)
        // The more selective search already comes first, or the selectivity of the first one is unknown.
        #expect(searches(rows: 340, compared: 3900).isEmpty)
        #expect(searches(rows: 0, compared: 3500).isEmpty)
        #expect(searches(rows: 300, compared: 7100).isEmpty)
        // A row has to match only one of them.
        var either = [Self.lyrics, Self.text]
        for place in either.indices { either[place].isAlternative = true }
        #expect(searches(either).isEmpty)
        #expect(searches(steps: 400).isEmpty)
    }

    @Test func `A limit on sorted rows does not count as selectivity`() {
        func findings(_ terms: [Term], matched: UInt32) -> [Finding] {
            var music = Music()
            let shape = music.shape("…", terms, sort: ["milliseconds ascending"], isLimited: true)
            for _ in 0..<10 {
                let fetch = music.fetch(shape, rows: 20, duration: 3_000_000)
                var statement = TraceEvent.Statement()
                (statement.rows, statement.fullScanSteps) = (20, 3999)
                (statement.textComparisons, statement.textMatches) = (6500, matched)
                music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
            }
            return Analysis(Profile(music.trace.closed()), rules: [PredicateOrderRule()]).findings
        }
        // Of 4,000 rows, 2,500 match the first search, and 2,400 or 100 of these also match the second.
        #expect(findings([Self.lyrics, Self.text], matched: 4900).isEmpty)
        #expect(findings([Self.lyrics, Self.text], matched: 2600).count == 1)
        var negated = Self.text
        negated.isNegated = true
        #expect(findings([Self.lyrics, negated], matched: 2600).isEmpty)
        #expect(findings([Self.text, Self.length], matched: 2500).map(\.confidence.level) == [.low])
    }

    @Test func `A search in long texts before a search in short texts is reported`() throws {
        var music = Music()
        // All tracks were read once: lyrics are 200 times as long as titles.
        music.fetchAndUse(music.shape(), rows: 100) { use in
            use.properties = [
                .init(index: 0, rowsRead: 100, rowsLoaded: 100, bytes: 1600, largeRows: 0),
                .init(index: 1, rowsRead: 100, rowsLoaded: 100, bytes: 320_000, largeRows: 0),
            ]
        }
        let shape = music.shape("…", [Self.lyrics, Self.text])
        let fetch = music.fetch(shape, rows: 2000, duration: 30_000_000)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.fullScanSteps, statement.textComparisons) = (2000, 3499, 6500)
        music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
        let found = Analysis(Profile(music.trace.closed()), rules: [PredicateOrderRule()]).findings
        #expect(found.map(\.title.text) == ["Search title before lyrics in the predicate of Track"])
        #expect(found.first?.explanation.map(\.text).last == "The texts have an average size of 3.13 KiB and 16 B.")
    }

    @Test func `Selectivity is unknown if no text passed, or if there are several searches`() throws {
        let finding = try #require(analysis(rows: 0, matched: 0).findings.first)
        #expect(finding.confidence.level == .low)
        #expect(
            finding.explanation.map(\.text) == [
                "10 fetches compared 3,500 texts each, and none passed: the selectivity of the other terms is unknown."
            ])
        let two = try #require(analysis([Self.text, Self.text, Self.length]).findings.first)
        #expect(two.confidence.level == .low)
        #expect(
            two.explanation.map(\.text) == [
                "10 fetches compared 3,500 texts each in several searches: the selectivity of the other terms is "
                    + "unknown."
            ])
    }

    @Test func `A trace without text counters is an obstacle, not a finding`() {
        let analysis = analysis(compared: 0, matched: 0)
        #expect(analysis.findings.isEmpty)
        #expect(
            analysis.checks.first?.obstacles.map(\.text) == [
                "The trace does not show how many texts 10 searches compared."
            ])
    }
}
