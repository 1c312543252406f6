import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R05: counts and sums by fetching")
struct AggregateRuleTests {
    private func findings(_ music: Music) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: [AggregateRule()]).findings
    }

    /// Findings for results of `rows` rows each, with the use that `change` sets.
    private func findings(
        rows: UInt32 = 100, times: Int = 10, terms: [ShapeEntry.Term]? = [], sort: [String] = [],
        lengthType: String = "Integer 32", _ change: (inout TraceEvent.Use) -> Void
    ) -> [Finding] {
        var music = Music(lengthType: lengthType)
        let shape = music.shape("", terms, sort: sort)
        music.calibrate(shape)
        music.fetchAndUse(shape, rows: rows, times: times, change)
        return findings(music)
    }

    // MARK: - Counting

    @Test func `R05 advises a count request for results that are only counted`() throws {
        let found = findings { $0.countAsked = 1 }
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.rule == "R05")
        #expect(finding.title.text == "Count Track with a count request, not by fetching")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["let count = try context.count(for: request)"])
        #expect(
            finding.explanation.map(\.text) == [
                "The program only counted 10 results with 1,000 rows in all, and read no row."
            ])
        // Ten fetches of 10 µs and 100 rows of 2 µs each; ten trips of 10 µs and 1,000 rows of 60 ns remain.
        #expect(abs(finding.saving.time.median - (2_100_000 - 160_000)) < 1)
        #expect(finding.saving.rows == 1000)
        #expect(finding.saving.bytes == 100_000)
        #expect(finding.saving.memory == 10_000)
        #expect(finding.saving.trips == 0)
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .high)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(figures["executions"] == 10 && figures["rows"] == 1000 && figures["touchedRows"] == 0)
        #expect(figures["fetchTime"] == 2_100_000)
    }

    @Test func `R05 advises a limit of 1 for results that are only tested for emptiness`() throws {
        let finding = try #require(
            findings {
                $0.countAsked = 2
                $0.emptinessAsked = 2
            }.first)
        #expect(finding.title.text == "Check with a limit of 1 whether any Track exists")
        #expect(
            finding.code == ["request.fetchLimit = 1", "let isEmpty = try context.fetchObjectIDs(request).isEmpty"])
        #expect(abs(finding.saving.time.median - (2_100_000 - 100_000)) < 1)
    }

    @Test func `Counting a batched result in the store saves fetching its IDs`() throws {
        var music = Music()
        let shape = music.shape()
        music.calibrate(shape)
        let fetch = music.fetch(shape, rows: 1000, duration: 900_000) { $0.batchSize = 20 }
        var use = Music.use(of: fetch, rows: 1000)
        (use.batchSize, use.loadedRows, use.bytes, use.countAsked) = (20, 0, 0, 1)
        music.add(use, shape: shape)
        let finding = try #require(findings(music).first)
        #expect(finding.saving.rows == 0)
        #expect(abs(finding.saving.time.median - (900_000 - 10_000 - 60_000)) < 1)
    }

    @Test(arguments: [(19, 0), (20, 1)] as [(UInt32, Int)])
    func `Results of 20 rows are reported, and results of 19 rows are not`(_ rows: UInt32, _ count: Int) {
        #expect(findings(rows: rows) { $0.countAsked = 1 }.count == count)
    }

    @Test func `Results of few but long rows are reported`() {
        let found = findings(rows: 5) {
            $0.countAsked = 1
            $0.bytes = 16_384
        }
        #expect(found.count == 1)
    }

    @Test func `A counted result whose rows were also used is not reported`() {
        let found = findings {
            $0.countAsked = 1
            $0.touchFirst(100)
            $0.read(.title, rows: 100)
        }
        #expect(found.isEmpty)
    }

    @Test(arguments: [(1, 9, 1), (2, 8, 0)])
    func `One result in ten may be used for its rows, and two may not`(_ used: Int, _ counted: Int, _ count: Int) {
        var music = Music()
        let shape = music.shape()
        music.fetchAndUse(shape, rows: 100, times: counted) { $0.countAsked = 1 }
        music.fetchAndUse(shape, rows: 100, times: used) {
            $0.touchFirst(100)
            $0.read(.title, rows: 100)
        }
        #expect(findings(music).count == count)
    }

    @Test func `A result that is still in use at the end is not reported`() {
        #expect(
            findings {
                $0.countAsked = 1
                $0.state = .open
            }.isEmpty)
    }

    @Test func `A result that was never used is not reported as counted`() {
        #expect(findings { _ in }.isEmpty)
    }

    @Test func `Results in scopes of kind setup are ignored`() {
        var music = Music()
        let shape = music.shape()
        music.scoped(.setup) { $0.fetchAndUse(shape, rows: 100, times: 10) { $0.countAsked = 1 } }
        #expect(findings(music).isEmpty)
    }

    @Test func `Counted results are reported in traces of older recorders too`() {
        #expect(findings(terms: nil) { $0.countAsked = 1 }.count == 1)
    }

    @Test func `A saving below the thresholds is a note`() throws {
        var music = Music()
        let shape = music.shape()
        music.scoped(.screen, pause: 1_000_000_000) { music in
            music.fetchAndUse(shape, rows: 100) { $0.countAsked = 1 }
            // The rows are less than a fifth of all rows.
            music.fetchAndUse(shape, rows: 500, site: music.trace.site(77)) { $0.touchFirst(500) }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms, and below 20 % of all rows."
            ])
    }

    // MARK: - Aggregating

    private static func fold(_ use: inout TraceEvent.Use) {
        use.touchFirst(use.rows)
        use.read(.milliseconds, rows: UInt64(use.rows))
    }

    @Test func `R05 advises aggregating in the store if one number of every row is read`() throws {
        var music = Music()
        let shape = music.shape()
        music.calibrate(shape)
        let fetch = music.fetch(shape, rows: 3503)
        var fault = TraceEvent.Fault()
        (fault.entity, fault.origin) = (music.track, fetch)
        for object in 1...3503 as ClosedRange<UInt64> {
            fault.object = object
            music.trace.event(.fault(fault), duration: 100, stack: music.readStack)
        }
        var use = Music.use(of: fetch, rows: 3503)
        Self.fold(&use)
        music.add(use, shape: shape)
        let finding = try #require(findings(music).first)
        #expect(finding.title.text == "Aggregate Track.milliseconds in the store, not over its objects")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.seenAt.map(\.site?.description) == ["Scroll.swift:57"])
        #expect(finding.seenAt.map(\.count) == [3503])
        #expect(finding.code.first == #"let sum = ExpressionDescription("sum", .function(.sum, "milliseconds"))"#)
        #expect(
            finding.explanation.map(\.text) == [
                "The program read a result of 3,503 rows in order, and of each row only milliseconds: enough for a "
                    + "sum, "
                    + "an average, a minimum or a maximum."
            ])
        #expect(abs(finding.saving.time.median - (3503 * 2000 - 3503 * 60)) < 1)
        // The trace does not show what was computed from the numbers.
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `A sum is reported however often the rows are visited`() {
        let found = findings {
            Self.fold(&$0)
            $0.touches *= 2
        }
        #expect(found.count == 1)
    }

    @Test(arguments: [("track", "object", 0), ("track", "value", 1), ("album", "object", 1)])
    func `No sum is reported if another fetch needs the objects`(_ property: String, _ operand: String, _ count: Int) {
        var music = Music()
        _ = music.trace.entity(
            "Play",
            [
                .init(name: "track", type: "toOne", destination: "Track"),
                .init(name: "album", type: "toOne", destination: "Album"),
            ])
        let shape = music.shape()
        music.calibrate(shape)
        music.scoped(.bulk) { music in
            music.fetchAndUse(shape, rows: 100, times: 10) { Self.fold(&$0) }
            let term = ShapeEntry.Term(keyPath: property, operation: "==", operand: operand)
            let plays = music.trace.define(.shape(ShapeEntry(entity: "Play", predicate: "…", terms: [term])))
            _ = music.fetch(plays, rows: 3, site: music.trace.site(77, "plays()"))
        }
        #expect(findings(music).count == count)
    }

    @Test func `Results that are read like a list are not reported as a sum`() {
        // A second property, one row fewer, a changed row, the last row first, or one screen at a time.
        #expect(
            findings {
                Self.fold(&$0)
                $0.read(.title, rows: 1)
            }.isEmpty)
        #expect(
            findings {
                $0.touchFirst(100)
                $0.read(.milliseconds, rows: 99)
            }.isEmpty)
        #expect(
            findings {
                Self.fold(&$0)
                $0.modifiedRows = 1
            }.isEmpty)
        #expect(
            findings {
                Self.fold(&$0)
                $0.runs = [.init(first: 99, rows: 1), .init(first: 0, rows: 99)]
            }.isEmpty)
        #expect(
            findings {
                Self.fold(&$0)
                $0.windows = [.init(scopeKind: .screen, rows: 10, times: 10)]
            }.isEmpty)
    }

    @Test(arguments: ["String", "Boolean", "Date", "Binary", "toOne"])
    func `No sum is reported over an attribute that is not numeric`(_ type: String) {
        #expect(findings(lengthType: type) { Self.fold(&$0) }.isEmpty)
    }

    @Test(arguments: ["Integer 16", "Integer 64", "Double", "Float", "Decimal"])
    func `A sum is reported over numbers of any type`(_ type: String) {
        #expect(findings(lengthType: type) { Self.fold(&$0) }.count == 1)
    }

    @Test func `A sum over sorted rows is a note, because their order may matter`() throws {
        let finding = try #require(findings(sort: ["title ascending"]) { Self.fold(&$0) }.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The rows are sorted, so their order may matter to what the program computes from them."
            ])
    }

    @Test func `Without recorded changes, possible sums are an obstacle, not a finding`() throws {
        var music = Music()
        let shape = music.shape("", nil)
        music.fetchAndUse(shape, rows: 100, times: 10) { Self.fold(&$0) }
        let analysis = Analysis(Profile(music.trace.closed()), rules: [AggregateRule()])
        #expect(analysis.findings.isEmpty)
        #expect(
            analysis.checks.first?.obstacles.map(\.text) == [
                "An older recorder did not record changes to 10 results, so sums over them are not detected."
            ])
        #expect(analysis.checks.first?.examined?.text == "the use of 10 results")
    }

    // MARK: - Previews

    /// Findings for results that are counted and whose first rows are shown.
    private func previews(
        rows: UInt32 = 200, first: UInt32 = 3, times: Int = 10, kind: TraceEvent.Scope.Kind? = .screen,
        _ change: (inout TraceEvent.Use) -> Void = { _ in }
    ) -> [Finding] {
        findings(rows: rows, times: times) { use in
            use.countAsked = 1
            use.touchFirst(first, in: kind)
            use.read(.title, rows: UInt64(first))
            change(&use)
        }
    }

    @Test func `R05 advises a count request and a limit if only the count and the first rows are used`() throws {
        let finding = try #require(previews().first)
        #expect(finding.title.text == "Count Track with a count request, and fetch the first 3 with a limit")
        #expect(finding.code == ["let count = try context.count(for: request)", "request.fetchLimit = 3"])
        #expect(
            finding.explanation.map(\.text) == [
                "The program counted 10 results with 2,000 rows in all. At most the first 3 of each were used, 30 "
                    + "rows in all."
            ])
        // Ten fetches of 410 µs each; 20 trips of 10 µs, 30 rows of 2 µs and 2,000 rows of 60 ns remain.
        #expect(abs(finding.saving.time.median - (4_100_000 - 200_000 - 60_000 - 120_000)) < 1)
        #expect(finding.saving.rows == 1970)
        #expect(finding.saving.trips == -10)
        #expect(finding.severity >= .warning)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `Short results that are shown in full, and empty ones, do not prevent a preview finding`() throws {
        var music = Music()
        let shape = music.shape()
        music.calibrate(shape)
        for rows in [0, 1, 0, 3, 2, 0, 300, 500, 100, 1] as [UInt32] {
            music.fetchAndUse(shape, rows: rows) { use in
                use.countAsked = 1
                if rows > 0 { use.touchFirst(min(3, rows), in: .screen) }
                if rows > 0 { use.read(.title, rows: UInt64(min(3, rows))) }
            }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.title.text.hasSuffix("fetch the first 3 with a limit"))
        #expect(finding.evidence.first { $0.name == "executions" }?.value == 7)
    }

    @Test func `On a screen, up to five rows are a preview, and more rows are a list`() {
        #expect(previews(first: 10).isEmpty)
        #expect(previews(first: 6).isEmpty)
        #expect(previews(first: 5).count == 1)
    }

    @Test func `Without screens, ten rows in one window are a preview, and rows in several are a list`() {
        #expect(previews(first: 10, kind: .request).count == 1)
        #expect(previews(first: 10, kind: nil).count == 1)
        #expect(previews(first: 10, kind: nil) { $0.windows = [.init(scopeKind: nil, rows: 5, times: 2)] }.isEmpty)
    }

    @Test func `Two results, few rows, and results of which more than half are used are not reported`() {
        #expect(previews(times: 2).isEmpty)
        #expect(previews(rows: 19, times: 3).isEmpty)
        #expect(previews(rows: 20, times: 3).count == 1)
        #expect(previews(rows: 21, first: 11, kind: .request).isEmpty)
        #expect(previews(rows: 22, first: 11, kind: .request).count == 1)
    }

    @Test func `Results of which not just the first rows are used are not reported as a preview`() {
        #expect(previews { $0.runs = [.init(first: 1, rows: 3)] }.isEmpty)
        #expect(previews { $0.runs = [.init(first: 0, rows: 2), .init(first: 90, rows: 1)] }.isEmpty)
        #expect(previews { $0.runsLost = 1 }.isEmpty)
    }

    @Test func `A batched result is not reported as a preview`() {
        #expect(previews { $0.batchSize = 10 }.isEmpty)
    }

    @Test func `A preview without a count is not reported`() {
        #expect(previews { $0.countAsked = 0 }.isEmpty)
    }
}
