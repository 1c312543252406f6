import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R14: unbounded fetches")
struct UnboundedFetchRuleTests {
    private static let rules: [any Rule] = [
        UnboundedFetchRule(), BatchSizeRule(), OverFetchRule(), AggregateRule(), UnusedResultRule(),
    ]

    private func findings(_ body: (inout Music, DictionaryID) -> Void) -> [Finding] {
        var music = Music()
        let shape = music.shape()
        music.calibrate(shape)
        body(&music, shape)
        return Analysis(Profile(music.trace.closed()), rules: Self.rules).findings
    }

    /// Findings for a result whose rows are all read.
    private func all(
        _ rows: UInt32, bytes: UInt64? = nil, _ kind: TraceEvent.Scope.Kind = .request,
        _ change: @escaping (inout TraceEvent.Use) -> Void = { _ in }
    ) -> [Finding] {
        findings { music, shape in
            music.scoped(kind) { music in
                music.fetchAndUse(shape, rows: rows) { use in
                    use.touchFirst(rows, in: kind)
                    use.read(.title, rows: UInt64(rows))
                    use.read(.lyrics, rows: UInt64(rows))
                    if let bytes { use.bytes = bytes }
                    change(&use)
                }
            }
        }
    }

    @Test func `R14 advises batches for a fetch that loads all rows at once`() throws {
        let found = all(2000)
        let finding = try #require(found.first)
        #expect(found.map(\.rule) == ["R14"])
        #expect(finding.title.text == "Load the rows of Track in batches, or a page at a time")
        #expect(finding.code == ["request.fetchBatchSize = 500"])
        #expect(
            finding.explanation.map(\.text) == [
                "It fetches every Track: 2,000 rows at once, 195 KiB, and nothing limits the number."
            ])
        #expect(
            finding.reservations.map(\.text) == [
                "It takes little time at this size. With ten times the rows it would hold 1.91 MiB."
            ])
        #expect(finding.severity == .warning && finding.saving.time == .none)
        #expect(finding.saving.memory == 150_000)
        #expect(finding.signature.hasPrefix("R14|unbounded|Track#") && finding.signature.hasSuffix("|tracks()"))
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(figures == ["executions": 1, "rows": 2000, "maximumRows": 2000, "bytes": 200_000, "runs": 1])
    }

    @Test func `Without the use of results, the finding is a warning with a reservation`() throws {
        func unrecorded(_ rows: UInt32, _ change: @escaping (inout TraceEvent.Fetch) -> Void = { _ in }) -> [Finding] {
            findings { music, shape in
                for size in [10, rows] { _ = music.fetch(shape, rows: size, change) }
            }
        }
        let found = unrecorded(1000)
        let finding = try #require(found.first)
        #expect(found.map(\.rule) == ["R14"] && finding.severity == .warning && finding.confidence.level == .low)
        #expect(
            finding.explanation.map(\.text) == [
                "It fetches every Track: 1,000 rows at once, and nothing limits the number."
            ])
        #expect(
            finding.reservations.map(\.text).first
                == "The trace does not show how the rows were used: all of them may have been needed.")
        #expect(finding.evidence.first { $0.name == "maximumRows" }?.value == 1000)
        #expect(finding.reservations.map(\.text).last == "It takes little time at this size.")
        #expect(
            unrecorded(50_000).first?.reservations.map(\.text).last
                == "It takes 100 ms at this size.")
        #expect(unrecorded(999).isEmpty)
        #expect(unrecorded(5000) { $0.batchSize = 50 }.isEmpty)
        #expect(unrecorded(5000) { $0.limit = 5000 }.isEmpty)
    }

    @Test func `Results of 1,000 rows are reported, and results of fewer rows beyond 4 MiB by R02`() {
        #expect(all(1000).map(\.rule) == ["R14"])
        #expect(all(999).isEmpty)
        #expect(all(900, bytes: 900 * 3000).isEmpty)
        // Beyond 4 MiB, R02 advises a batch size.
        #expect(all(900, bytes: 900 * 5000).map(\.rule) == ["R02"])
    }

    @Test func `R14 advises batches of 500 for rows of a few kilobytes, which saves memory`() {
        #expect(all(1200, bytes: 1200 * 3000).map(\.code) == [["request.fetchBatchSize = 500"]])
        let finding = all(1000, bytes: 1000 * 4000)
        #expect(finding.map(\.saving.memory) == [500 * 4000])
    }

    @Test func `Fetches in scopes of kind bulk or setup are not reported`() {
        #expect(all(5000, .bulk).isEmpty)
        #expect(all(5000, .setup).isEmpty)
    }

    @Test func `Fetches with a limit or a batch size are not reported`() {
        var music = Music()
        let limited = music.shape(isLimited: true)
        music.fetchAndUse(limited, rows: 2000) { $0.touchFirst(2000) }
        #expect(Analysis(Profile(music.trace.closed()), rules: [UnboundedFetchRule()]).findings.isEmpty)
        let batched = findings { music, shape in
            let fetch = music.fetch(shape, rows: 2000) { $0.batchSize = 500 }
            var use = Music.use(of: fetch, rows: 2000)
            use.batchSize = 500
            use.batchesLoaded = 4
            use.touchFirst(2000)
            music.add(use, shape: shape)
        }
        #expect(!batched.map(\.rule).contains("R14"))
    }

    @Test(arguments: [TraceEvent.Scope.Kind.request, .bulk])
    func `Small batches of many rows are replaced by all rows at once only in bulk work`(
        _ kind: TraceEvent.Scope.Kind
    ) throws {
        let found = findings { music, shape in
            music.scoped(kind) { music in
                let fetch = music.fetch(shape, rows: 2000) { $0.batchSize = 5 }
                var use = Music.use(of: fetch, rows: 2000)
                use.batchSize = 5
                use.batchesLoaded = 400
                use.touchFirst(2000, in: kind)
                music.add(use, shape: shape)
            }
        }
        #expect(found.map(\.rule) == ["R02"])
        #expect(found.map { $0.title.text.contains("at once") } == [kind == .bulk])
    }

    /// Merged runs of a program, each with the rows of a table and the rows that a fetch returns from it.
    private func runs(
        _ sizes: [(table: UInt32, rows: UInt32)], tellsTable: Bool = true, order: [Int]? = nil, sorts: UInt32 = 0,
        change: (inout TraceEvent.Fetch) -> Void = { _ in }
    ) -> Profile {
        let profiles = sizes.enumerated().map { number, size in
            var music = Music(process: UInt32(number + 1))
            let shape = music.shape()
            music.calibrate(shape)
            music.scoped(.request) { music in
                if tellsTable {
                    let plan = PlanEntry(rows: [.init(id: 2, parent: 0, detail: "SCAN t0")])
                    var statement = TraceEvent.Statement()
                    (statement.fullScanSteps, statement.plan) = (size.table - 1, music.trace.define(.plan(plan)))
                    statement.sorts = sorts
                    let fetch = music.fetch(music.shape("title == ?"), rows: 1, change)
                    music.trace.event(.sql(statement), parent: fetch)
                }
                let found = music.shape("isRated == ?")
                music.fetchAndUse(found, rows: size.rows) { use in
                    use.touchFirst(size.rows, in: .request)
                    use.read(.title, rows: UInt64(size.rows))
                }
            }
            return Profile(music.trace.closed())
        }
        return Profile(sum: (order ?? Array(profiles.indices)).map { profiles[$0] })
    }

    private func findings(_ profile: Profile) -> [Finding] {
        Analysis(profile, rules: Self.rules).findings.filter { $0.rule == "R14" }
    }

    @Test func `A result that grows with its table is reported while it is small`() throws {
        let finding = try #require(findings(runs([(200, 110), (400, 220), (900, 500)])).first)
        #expect(
            finding.explanation.map(\.text) == [
                "500 rows at once, 48.9 KiB, and nothing limits the number.",
                "It grows with its table: in 3 runs from 110 of 200 rows to 500 of 900.",
            ])
        // The severity is that of ten times the rows.
        #expect(finding.severity == .warning)
        #expect(findings(runs([(200, 110), (400, 220), (900, 500)], order: [2, 0, 1])) == [finding])
    }

    @Test func `A result is not reported if its table, or the result itself, does not grow`() {
        #expect(findings(runs([(900, 500)])).isEmpty)
        #expect(findings(runs([(900, 500), (900, 500), (950, 530)])).isEmpty)
        #expect(findings(runs([(1000, 300), (4000, 310), (10_000, 305)])).isEmpty)
        // The result grows by half a row for each new row, and by slightly less.
        #expect(findings(runs([(100, 50), (1100, 550)])).count == 1)
        #expect(findings(runs([(100, 50), (1100, 549)])).isEmpty)
        #expect(findings(runs([(20, 10), (180, 99)])).isEmpty)
        // One more run between them makes no difference.
        #expect(findings(runs([(130, 130), (400, 400)])).count == 1)
        #expect(findings(runs([(130, 130), (250, 250), (400, 400)])).count == 1)
        // A scan that a limit ended does not show the table's size, unless the whole table was sorted.
        #expect(findings(runs([(200, 110), (900, 500)]) { $0.limit = 10 }).isEmpty)
        #expect(findings(runs([(200, 110), (900, 500)], sorts: 1) { $0.limit = 10 }).count == 1)
        // If an index seeks the rows, the table's size is unknown.
        #expect(findings(runs([(200, 110), (900, 500)], tellsTable: false)).isEmpty)
    }

    @Test func `If fewer rows are needed, other rules report the fetch`() {
        // The count, the first rows, nothing, or one screen at a time is used.
        #expect(findings { $0.fetchAndUse($1, rows: 2000, times: 3) { $0.countAsked = 1 } }.map(\.rule) == ["R05"])
        #expect(findings { $0.fetchAndUse($1, rows: 2000, times: 3) { $0.touchFirst(3) } }.map(\.rule) == ["R03"])
        #expect(findings { $0.fetchAndUse($1, rows: 2000, times: 3) { _ in } }.map(\.rule) == ["R17"])
        let screens = findings { music, shape in
            music.scoped(.screen) { music in
                music.fetchAndUse(shape, rows: 2000) { use in
                    use.touchFirst(400, in: .screen)
                    use.windows = [.init(scopeKind: .screen, rows: 10, times: 40)]
                }
            }
        }
        #expect(screens.map(\.rule) == ["R02"])
    }
}
