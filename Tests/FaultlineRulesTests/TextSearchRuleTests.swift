import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R08: text search without an index")
struct TextSearchRuleTests {
    private static let contains = ShapeEntry.Term(keyPath: "title", operation: "CONTAINS", options: "cd")

    private func analysis(
        _ terms: [ShapeEntry.Term]? = [contains], times: Int = 8, rows: UInt32 = 40, fullScanSteps: UInt32 = 3502,
        virtualMachineSteps: UInt64 = 14_000, resultType: TraceEvent.Fetch.ResultType = .objects,
        duration: UInt64 = 2_500_000, hasStatements: Bool = true, scope: TraceEvent.Scope.Kind = .screen,
        wall: UInt64 = 0
    ) -> Analysis {
        var music = Music()
        let all = music.shape()
        music.calibrate(all)
        let shape = music.shape("title CONTAINS[cd] ?", terms, resultType: "\(resultType)")
        music.scoped(scope, pause: wall) { music in
            for _ in 0..<times {
                let fetch = music.fetch(shape, rows: rows, duration: duration) { $0.resultType = resultType }
                guard hasStatements else { continue }
                music.statement(of: fetch, fullScanSteps: fullScanSteps, virtualMachineSteps: virtualMachineSteps)
            }
        }
        return Analysis(Profile(music.trace.closed()), rules: [TextSearchRule()])
    }

    @Test func `R08 advises keeping words in rows of their own instead of searching with CONTAINS`() throws {
        let found = analysis().findings
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.rule == "R08")
        #expect(finding.title.text == "Search Track.title by the beginnings of its words, not with CONTAINS[cd]")
        #expect(finding.change?.description == "List.swift:42")
        #expect(
            finding.code == [
                "// In the model: Track.words: to-many TrackWord; TrackWord.text: String, with an index",
                #"FetchRequest<TrackWord>(predicate: PropertyPath("text").beginsWith(word))"#,
            ])
        #expect(
            finding.explanation.map(\.text) == [
                "8 searches examined about 3,503 rows each to find 320 in all: no index serves CONTAINS[cd].",
                "A search takes 2.50 ms, and ten times as long with ten times the rows.",
            ])
        // Eight fetches of 2.5 ms; eight trips of 10 µs and 320 rows of 2 µs remain.
        #expect(abs(finding.saving.time.median - (20_000_000 - 80_000 - 640_000)) < 1)
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .medium)
        #expect(finding.reservations.isEmpty)
        #expect(finding.scopes == ["album"])
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "executions": 8, "rows": 320, "fullScanSteps": 28_016, "virtualMachineSteps": 112_000,
                "textComparisons": 0, "candidates": 3503, "fetchTime": 20_000_000,
            ])
    }

    @Test func `Comparisons of folded texts are not reported, except those that no index can serve`() {
        func findings(_ operation: String, isFolded: Bool?) -> [Finding] {
            var term = ShapeEntry.Term(keyPath: "title", operation: operation, options: "cd")
            term.isFolded = isFolded
            return analysis([term]).findings
        }
        for operation in ["==", "BEGINSWITH"] {
            #expect(findings(operation, isFolded: nil).count == 1)
            #expect(findings(operation, isFolded: true).isEmpty)
        }
        // No index can seek the middle of a text, folded or not.
        #expect(findings("CONTAINS", isFolded: true).count == 1)
    }

    @Test func `A finding about a raw column has no code for a folded copy`() throws {
        let prefix = try #require(
            analysis([.init(keyPath: "ZTITLE", operation: "BEGINSWITH", options: "cd")]).findings.first)
        #expect(prefix.title.text == "Search a folded copy of Track.ZTITLE, not BEGINSWITH[cd]")
        #expect(prefix.code == [] && !prefix.fix.isEmpty)
        let words = try #require(analysis([.init(keyPath: "ZTITLE", operation: "CONTAINS")]).findings.first)
        #expect(words.code.count == 2)
    }

    static let remedies: [(ShapeEntry.Term, String, String)] = [
        (
            .init(keyPath: "title", operation: "BEGINSWITH", options: "cd"),
            "Search a folded copy of Track.title, not BEGINSWITH[cd]",
            #"PropertyPath("foldedTitle").beginsWith(folded)"#
        ),
        (
            .init(keyPath: "album.title", operation: "BEGINSWITH", options: "d"),
            "Search a folded copy of Track.album.title, not BEGINSWITH[d]",
            #"PropertyPath("album.foldedTitle").beginsWith(folded)"#
        ),
        (
            .init(keyPath: "title", operation: "==", options: "c"),
            "Search a folded copy of Track.title, not ==[c]", #"PropertyPath("foldedTitle") == folded"#
        ),
        (
            .init(keyPath: "title", operation: ">=", options: "c"),
            "Search a folded copy of Track.title, not >=[c]", #"PropertyPath("foldedTitle") >= folded"#
        ),
        (
            .init(keyPath: "title", operation: "ENDSWITH"),
            "Search a reversed copy of Track.title from its beginning, not with ENDSWITH",
            #"PropertyPath("reversedTitle").beginsWith(String(ending.reversed()))"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", wildcards: "leading"),
            "Search Track.title by the beginnings of its words, not with LIKE",
            #"FetchRequest<TrackWord>(predicate: PropertyPath("text").beginsWith(word))"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", wildcards: "trailing"),
            "Search Track.title with BEGINSWITH, not with LIKE", #"PropertyPath("title").beginsWith(prefix)"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", options: "c", wildcards: "trailing"),
            "Search a folded copy of Track.title, not LIKE[c]", #"PropertyPath("foldedTitle").beginsWith(folded)"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", wildcards: "none"),
            "Compare Track.title with ==, not with LIKE", #"PropertyPath("title") == text"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", options: "c", wildcards: "none"),
            "Search a folded copy of Track.title, not LIKE[c]", #"PropertyPath("foldedTitle") == folded"#
        ),
        (
            .init(keyPath: "title", operation: "LIKE", wildcards: "inner"),
            "Put a plain BEGINSWITH in front of LIKE on Track.title",
            #"PropertyPath("title").beginsWith(prefix) && PropertyPath("title").like(pattern)"#
        ),
        (
            .init(keyPath: "title", operation: "MATCHES"),
            "Put a plain BEGINSWITH in front of MATCHES on Track.title",
            #"PropertyPath("title").beginsWith(prefix) && PropertyPath("title").matches(pattern)"#
        ),
    ]

    @Test(arguments: remedies)
    func `R08 advises a remedy for each operator`(_ term: ShapeEntry.Term, _ title: String, _ code: String) throws {
        let finding = try #require(analysis([term]).findings.first)
        #expect(finding.title.text == title)
        #expect(finding.code.last == code)
    }

    @Test func `The advised words belong to the entity that holds the text`() throws {
        let term = ShapeEntry.Term(keyPath: "album.title", operation: "CONTAINS")
        let finding = try #require(analysis([term]).findings.first)
        #expect(
            finding.code.first
                == "// In the model: Album.words: to-many AlbumWord; AlbumWord.text: String, with an index")
    }

    @Test(arguments: [
        ShapeEntry.Term(keyPath: "title", operation: "BEGINSWITH"), .init(keyPath: "title", operation: "=="),
        .init(keyPath: "title", operation: "<"), .init(keyPath: "title", operation: "IN"),
        .init(keyPath: "title", operation: "!=", options: "c"),
        .init(keyPath: "title", operation: "==", operand: "nil"),
        .init(keyPath: "title", operation: "CONTAINS", isNegated: true),
    ])
    func `Comparisons that an index can serve, or that none ever will, are not reported`(_ term: ShapeEntry.Term) {
        #expect(analysis([term]).findings.isEmpty)
    }

    @Test func `Several texts are named in one finding`() throws {
        let terms = ["title", "lyrics", "title"].map {
            ShapeEntry.Term(keyPath: $0, operation: "CONTAINS", isAlternative: true)
        }
        let finding = try #require(analysis(terms).findings.first)
        #expect(
            finding.title.text == "Search Track.title, Track.lyrics by the beginnings of its words, not with CONTAINS")
    }

    @Test func `Searches that examine at least 1,000 rows in all, or run at least 20 times, are reported`() {
        #expect(analysis(times: 1, fullScanSteps: 999).findings.count == 1)
        #expect(analysis(times: 1, fullScanSteps: 998).findings.isEmpty)
        #expect(analysis(times: 10, fullScanSteps: 99).findings.count == 1)
        #expect(analysis(times: 19, fullScanSteps: 40).findings.isEmpty)
        #expect(analysis(times: 20, fullScanSteps: 40).findings.count == 1)
    }

    @Test func `Searches that examine fewer than 500 rows are a note`() throws {
        #expect(try #require(analysis(times: 20, fullScanSteps: 498).findings.first).severity == .note)
        #expect(try #require(analysis(times: 20, fullScanSteps: 499).findings.first).severity == .warning)
        let small = try #require(analysis(times: 20, fullScanSteps: 99).findings.first)
        #expect(small.severity == .note)
        #expect(small.reservations.map(\.text) == [])
    }

    @Test func `Search times do not change the fitted costs of other trips`() throws {
        let analysis = analysis(times: 100)
        #expect([analysis.costs.store.line.trip, analysis.costs.store.line.row] == [10_000, 2000])
        let finding = try #require(analysis.findings.first)
        #expect(abs(finding.saving.time.median - (250_000_000 - 1_000_000 - 8_000_000)) < 1)
    }

    @Test func `The cost of a search that takes little time is reported as not proven`() throws {
        let finding = try #require(analysis(duration: 100_000, wall: 1_000_000_000).findings.first)
        #expect(finding.severity == .warning)
        #expect(
            finding.reservations.map(\.text) == [
                "Cost not proven at this size: less than 1 % of the time that the work took."
            ])
    }

    // MARK: - Other terms

    @Test func `A search is a note if an indexed term leaves 200 rows`() throws {
        // Each of the 40 returned rows takes 6 steps; the remaining steps are 6 for each candidate.
        let narrowed = { (candidates: UInt64) in
            analysis(
                [.init(keyPath: "album", operation: "==", operand: "object"), Self.contains], rows: 40,
                fullScanSteps: 0, virtualMachineSteps: 40 * 6 + candidates * 6)
        }
        let few = try #require(narrowed(200).findings.first)
        #expect(few.severity == .note)
        #expect(
            few.reservations.map(\.text).first
                == "Another term leaves only about 200 rows to search, which takes little time.")
        #expect(few.evidence.first { $0.name == "candidates" }?.value == 200)
        let many = try #require(narrowed(800).findings.first)
        #expect(many.severity == .warning)
        #expect(many.reservations.isEmpty)
    }

    @Test func `Texts that a cheaper term excludes from comparison do not count`() throws {
        func found(compared: UInt32, step: UInt64 = 0) throws -> Finding {
            var music = Music()
            let length = ShapeEntry.Term(keyPath: "milliseconds", operation: "==")
            let shape = music.shape("…", [length, Self.contains])
            for _ in 0..<8 {
                let fetch = music.fetch(shape, rows: 40, duration: 2_500_000) { $0.step = step }
                var statement = TraceEvent.Statement()
                (statement.rows, statement.fullScanSteps, statement.textComparisons) = (40, 2999, compared)
                music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
            }
            return try #require(Analysis(Profile(music.trace.closed()), rules: [TextSearchRule()]).findings.first)
        }
        let few = try found(compared: 130)
        #expect(few.severity == .note)
        #expect(
            few.reservations.map(\.text).first
                == "Another term leaves only about 130 rows to search, which takes little time.")
        #expect(
            few.explanation.map(\.text)[0]
                == "8 searches compared the texts of 130 of 3,000 rows each to find 320 in all: no index serves "
                + "CONTAINS[cd]."
        )
        // Comparing a text takes about 300 ns; the scan for the other term remains.
        #expect(abs(few.saving.time.median - 8 * 130 * 300) < 1 && few.saving.time.high <= 8 * 130 * 3000)
        #expect(try found(compared: 2000).severity == .warning)
        let all = try found(compared: 3000)
        #expect(all.explanation.map(\.text)[0].hasPrefix("8 searches examined about 3,000 rows each"))
        #expect(all.saving.time.median > 8 * 2_000_000)
        // Searching takes at most SQLite's part of a fetch.
        #expect(try found(compared: 3000, step: 400_000).saving.time.median <= 8 * 400_000)
    }

    @Test func `A count returns no rows, so all of its steps are for candidates`() throws {
        let finding = try #require(
            analysis(rows: 2000, fullScanSteps: 0, virtualMachineSteps: 6000, resultType: .count).findings.first)
        #expect(finding.evidence.first { $0.name == "candidates" }?.value == 1000)
    }

    @Test func `Statements that prefetch do not count`() throws {
        var music = Music()
        let shape = music.shape("title CONTAINS[cd] ?", [Self.contains])
        for _ in 0..<8 {
            // Some precede the fetch that they belong to. The fetch's own statement is the first one after it.
            let next = music.fetch(shape, rows: 0, site: music.trace.site(77)) + 2
            music.statement(of: next, fullScanSteps: 5000)
            let fetch = music.fetch(shape, rows: 40)
            #expect(fetch == next)
            music.statement(of: fetch, fullScanSteps: 3502)
            music.statement(of: fetch, fullScanSteps: 7000)
        }
        let found = Analysis(Profile(music.trace.closed()), rules: [TextSearchRule()]).findings
        let finding = try #require(found.first { $0.change?.line == 42 })
        #expect(finding.evidence.first { $0.name == "fullScanSteps" }?.value == 28_016)
    }

    @Test func `Searches in scopes of kind setup are ignored`() {
        #expect(analysis(scope: .setup).findings.isEmpty)
    }

    // MARK: - Gaps in the trace

    @Test func `Without statements, 20 searches are a note, and fewer are an obstacle`() throws {
        let few = analysis(times: 19, hasStatements: false)
        #expect(few.findings.isEmpty)
        #expect(
            few.checks.first?.obstacles.map(\.text) == [
                "The trace does not show how many rows 19 searches examined."
            ])
        let finding = try #require(analysis(times: 20, hasStatements: false).findings.first)
        #expect(finding.explanation.map(\.text) == ["20 searches found 800 rows: no index serves CONTAINS[cd]."])
        #expect(finding.severity == .note)
    }

    @Test func `Fetches whose comparisons the trace does not have are an obstacle, not a finding`() {
        let analysis = analysis(nil)
        #expect(analysis.findings.isEmpty)
        #expect(analysis.checks.first?.obstacles.map(\.text) == ["The trace does not show what 8 fetches compared."])
        #expect(analysis.checks.first?.examined?.text == "the predicates of 8 fetches")
    }
}
