import FaultlineAnalysis
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("R05: counts and sums by fetching")
struct AggregateRuleTests {
    private func findings(_ music: Music) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: [AggregateRule()]).findings
    }

    /// Results of so many rows with which something was done.
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

    @Test func `Results that are only counted are to be counted by the store`() throws {
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
        // Ten fetches of 10 µs and a hundred rows of 2 µs each; ten trips of 10 µs and a thousand rows of 60 ns stay.
        #expect(abs(finding.saving.time.median - (2_100_000 - 160_000)) < 1)
        #expect(finding.saving.rows == 1000)
        #expect(finding.saving.bytes == 100_000)
        #expect(finding.saving.memory == 10_000)
        #expect(finding.saving.trips == 0)
        #expect(abs(finding.score - (25 + 50 * 80.0 / 980)) < 0.001)
        #expect(finding.confidence.level == .high)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(figures["executions"] == 10 && figures["rows"] == 1000 && figures["touchedRows"] == 0)
        #expect(figures["fetchTime"] == 2_100_000)
    }

    @Test func `Results that are only asked whether they are empty need one identity`() throws {
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

    @Test func `A batched result that is only counted saves its identities`() throws {
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
    func `Twenty rows are worth a word and nineteen are not`(_ rows: UInt32, _ count: Int) {
        #expect(findings(rows: rows) { $0.countAsked = 1 }.count == count)
    }

    @Test func `Few rows that are long are worth a word`() {
        let found = findings(rows: 5) {
            $0.countAsked = 1
            $0.bytes = 16_384
        }
        #expect(found.count == 1)
    }

    @Test func `A result whose rows were used after all is left alone`() {
        let found = findings {
            $0.countAsked = 1
            $0.touchFirst(100)
            $0.read(.title, rows: 100)
        }
        #expect(found.isEmpty)
    }

    @Test(arguments: [(1, 9, 1), (2, 8, 0)])
    func `One result in ten may be there for its rows, and two may not`(_ used: Int, _ counted: Int, _ count: Int) {
        var music = Music()
        let shape = music.shape()
        music.fetchAndUse(shape, rows: 100, times: counted) { $0.countAsked = 1 }
        music.fetchAndUse(shape, rows: 100, times: used) {
            $0.touchFirst(100)
            $0.read(.title, rows: 100)
        }
        #expect(findings(music).count == count)
    }

    @Test func `A result that is still in use at the end may be used for more`() {
        #expect(
            findings {
                $0.countAsked = 1
                $0.state = .open
            }.isEmpty)
    }

    @Test func `A result that nobody looked at was not counted`() {
        #expect(findings { _ in }.isEmpty)
    }

    @Test func `What happens in a scope of kind setup is left out`() {
        var music = Music()
        let shape = music.shape()
        music.scoped(.setup) { $0.fetchAndUse(shape, rows: 100, times: 10) { $0.countAsked = 1 } }
        #expect(findings(music).isEmpty)
    }

    @Test func `Results that are counted by an older recorder are found all the same`() {
        #expect(findings(terms: nil) { $0.countAsked = 1 }.count == 1)
    }

    @Test func `A saving below the floor makes a note`() throws {
        var music = Music()
        let shape = music.shape()
        music.scoped(.screen, pause: 1_000_000_000) { music in
            music.fetchAndUse(shape, rows: 100) { $0.countAsked = 1 }
            // The rows are no fifth of all.
            music.fetchAndUse(shape, rows: 500, site: music.trace.site(77)) { $0.touchFirst(500) }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms, and below 20 % of all rows."
            ])
    }

    // MARK: - Folding

    private static func fold(_ use: inout TraceEvent.Use) {
        use.touchFirst(use.rows)
        use.read(.milliseconds, rows: UInt64(use.rows))
    }

    @Test func `One number that is read of every row is to be folded by the store`() throws {
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
        // What the numbers were read for is not seen.
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `A sum is found however often the rows are gone through`() {
        let found = findings {
            Self.fold(&$0)
            $0.touches *= 2
        }
        #expect(found.count == 1)
    }

    @Test(arguments: [("track", "object", 0), ("track", "value", 1), ("album", "object", 1)])
    func `Objects that another fetch asks for are no sum`(_ property: String, _ operand: String, _ count: Int) {
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

    @Test func `A list is no sum`() {
        // A second property, one row less, a row that was changed, the last row first, a screenful at a time.
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
    func `What is no number is not added up`(_ type: String) {
        #expect(findings(lengthType: type) { Self.fold(&$0) }.isEmpty)
    }

    @Test(arguments: ["Integer 16", "Integer 64", "Double", "Float", "Decimal"])
    func `Numbers of any type are`(_ type: String) {
        #expect(findings(lengthType: type) { Self.fold(&$0) }.count == 1)
    }

    @Test func `Rows in an order may be a curve, so that a note is enough`() throws {
        let finding = try #require(findings(sort: ["title ascending"]) { Self.fold(&$0) }.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The rows are sorted, so their order may matter to what the program computes from them."
            ])
    }

    @Test func `Without knowing what was changed nothing is said of sums`() throws {
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

    /// Results of which the count is asked and the first rows are shown.
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

    @Test func `A count and the first rows are a count request and a limit`() throws {
        let finding = try #require(previews().first)
        #expect(finding.title.text == "Count Track with a count request, and fetch the first 3 with a limit")
        #expect(finding.code == ["let count = try context.count(for: request)", "request.fetchLimit = 3"])
        #expect(
            finding.explanation.map(\.text) == [
                "The program counted 10 results with 2,000 rows in all. At most the first 3 of each were used, 30 "
                    + "rows in all."
            ])
        // Ten fetches of 410 µs each; twenty trips of 10 µs, thirty rows of 2 µs and two thousand of 60 ns stay.
        #expect(abs(finding.saving.time.median - (4_100_000 - 200_000 - 60_000 - 120_000)) < 1)
        #expect(finding.saving.rows == 1970)
        #expect(finding.saving.trips == -10)
        #expect(finding.severity >= .warning)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `Short results among them, shown whole, and empty ones make no difference`() throws {
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

    @Test func `A list that shows a screenful of its rows is R02's`() {
        #expect(previews(first: 10).isEmpty)
        #expect(previews(first: 6).isEmpty)
        #expect(previews(first: 5).count == 1)
    }

    @Test func `Without screens ten rows are a preview, and several stretches of them are a list`() {
        #expect(previews(first: 10, kind: .request).count == 1)
        #expect(previews(first: 10, kind: nil).count == 1)
        #expect(previews(first: 10, kind: nil) { $0.windows = [.init(scopeKind: nil, rows: 5, times: 2)] }.isEmpty)
    }

    @Test func `Two results prove nothing, nor do few rows or such of which half are used`() {
        #expect(previews(times: 2).isEmpty)
        #expect(previews(rows: 19, times: 3).isEmpty)
        #expect(previews(rows: 20, times: 3).count == 1)
        #expect(previews(rows: 21, first: 11, kind: .request).isEmpty)
        #expect(previews(rows: 22, first: 11, kind: .request).count == 1)
    }

    @Test func `Rows that are used elsewhere are no preview`() {
        #expect(previews { $0.runs = [.init(first: 1, rows: 3)] }.isEmpty)
        #expect(previews { $0.runs = [.init(first: 0, rows: 2), .init(first: 90, rows: 1)] }.isEmpty)
        #expect(previews { $0.runsLost = 1 }.isEmpty)
    }

    @Test func `A batched result loads no more than it shows`() {
        #expect(previews { $0.batchSize = 10 }.isEmpty)
    }

    @Test func `A limit alone is R03's`() {
        #expect(previews { $0.countAsked = 0 }.isEmpty)
    }
}
