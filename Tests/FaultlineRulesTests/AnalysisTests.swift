import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Analysis")
struct AnalysisTests {
    private func finding(_ signature: String, saving: Double, severity: Severity = .error, claims: [Claim]) -> Finding {
        var finding = Finding(
            rule: "R01", ruleName: "", title: Wording(signature), change: nil, severity: severity, fix: "",
            saving: Saving(time: .init(median: saving, low: saving / 2, high: saving * 2)), confidence: .high,
            signature: signature)
        finding.claims = claims
        return finding
    }

    private func account(_ name: String, _ balance: Double) -> Claim {
        Claim(account: .loads(.init(shape: ShapeEntry(entity: name), site: nil)), balance: balance)
    }

    @Test func `A saving below a hundredth of the run and below 2 ms is a note`() {
        for (saving, run, severity) in [
            (1_900_000.0, UInt64(200_000_000), Severity.note), (2_100_000, 300_000_000, .warning),
            (1_900_000, 150_000_000, .warning), (1_900_000, 0, .warning),
        ] {
            var finding = finding("a", saving: saving, severity: .warning, claims: [])
            finding.waive(in: run)
            #expect(finding.severity == severity)
        }
    }

    @Test func `The findings after which something is left are named by their last numbers`() {
        // The first one saves all that the second one would, so that the third one takes the second place.
        let (one, other) = (account("A", 100), account("B", 40))
        let found = Analysis.ranked(
            [
                finding("first", saving: 100, severity: .warning, claims: [one]),
                finding("second", saving: 90, severity: .warning, claims: [one]),
                finding("third", saving: 40, severity: .warning, claims: [other]),
                finding("fourth", saving: 30, severity: .warning, claims: [other]),
            ], storeTime: 1000, lossShare: 0)
        #expect(found.prefix(2).map(\.signature) == ["first", "third"])
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.signature, $0.saving.after) })["fourth"] == [2])
    }

    @Test func `A clock change during the recording is reported`() throws {
        func sentences(back: UInt64) throws -> [String] {
            var music = Music()
            let shape = music.shape()
            music.scoped(.request) { music in
                _ = music.fetch(shape, rows: 5)
                music.trace.now -= back
                _ = music.fetch(shape, rows: 6)
            }
            return try #require(Analysis(Profile(music.trace.closed())).quality).explanation.map(\.text)
        }
        let set =
            "1 event begins before the previous event of the same thread has ended: the clock was changed during the "
            + "recording, and times cannot be trusted."
        #expect(try sentences(back: 6000).contains(set))
        #expect(try !sentences(back: 0).contains(set))
        // An event entirely within the other may be a part of it that lacks its parent.
        #expect(try !sentences(back: 20_000).contains(set))
    }

    @Test func `Scopes without a beginning or an end are reported`() throws {
        func sentences(without phase: TraceEvent.Scope.Phase?, scopes: Int = 3) throws -> [String] {
            var music = Music()
            let shape = music.shape()
            for _ in 0..<scopes { music.scoped(.request) { _ = $0.fetch(shape, rows: 5) } }
            let messages = music.trace.closed().filter { message in
                guard case .event(let event) = message, case .scope(let scope) = event.detail else { return true }
                return scope.phase != phase
            }
            return try #require(Analysis(Profile(messages)).quality).explanation.map(\.text).filter {
                $0.contains("in the trace")
            }
        }
        let rest = ": their durations, and which objects outlived them, are unknown."
        #expect(try sentences(without: nil).isEmpty)
        #expect(try sentences(without: .end) == ["3 scopes have no end in the trace" + rest])
        #expect(try sentences(without: .begin) == ["3 scopes have no beginning in the trace" + rest])
        #expect(
            try sentences(without: .end, scopes: 1) == [
                "1 scope has no end in the trace: its duration, and which objects outlived it, are unknown."
            ])
    }

    @Test func `Time that two findings claim goes to the first one`() {
        let claims = [account("Item", 100)]
        let ranked = Analysis.ranked(
            [finding("small", saving: 60, claims: claims), finding("large", saving: 80, claims: claims)],
            storeTime: 1000,
            lossShare: 0)
        #expect(ranked.map(\.signature) == ["large", "small"])
        #expect(ranked.map(\.saving.time.median) == [80, 20])
        #expect(ranked.map(\.saving.time.high) == [100, 20])
    }

    @Test func `A shorter wait that an earlier finding shortens too names that finding`() {
        var shorter = finding("shorter", saving: 0, claims: [account("Item", 100)])
        shorter.saving.pause = .init(median: 5, low: 4, high: 6)
        let first = finding("first", saving: 80, claims: [account("Item", 100)])
        let other = finding("first", saving: 80, claims: [account("List", 100)])
        let after = { Analysis.ranked($0, storeTime: 1000, lossShare: 0).last?.saving.after }
        #expect(after([shorter, first]) == [1])
        #expect(after([shorter, other]) == [])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `Savings never add up to more than the store's time`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let findings = (0..<12).map { index in
            let claims = (0..<(1 + generator.next() % 3)).map { _ in
                account("E\(generator.next() % 4)", Double(generator.next() % 1000))
            }
            return finding(
                "F\(index)", saving: Double(generator.next() % 2000),
                severity: Severity.allCases[Int(generator.next() % 3)],
                claims: claims)
        }
        let storeTime = Double(generator.next() % 3000)
        let ranked = Analysis.ranked(findings, storeTime: storeTime, lossShare: 0)
        #expect(ranked.reduce(0) { $0 + $1.saving.time.median } <= storeTime + 0.001)
        for finding in ranked {
            #expect(finding.saving.time.low <= finding.saving.time.median)
            #expect(finding.saving.time.median <= finding.saving.time.high)
            #expect(finding.saving.time.median >= 0)
        }
    }

    @Test func `Notes come after errors, however much they save`() {
        let ranked = Analysis.ranked(
            [
                finding("note", saving: 900, severity: .note, claims: [account("A", 900)]),
                finding("error", saving: 10, severity: .error, claims: [account("B", 10)]),
            ],
            storeTime: 1000, lossShare: 0)
        #expect(ranked.map(\.signature) == ["error", "note"])
    }

    @Test func `A count alone makes no error, and a saving at the threshold makes a warning`() {
        var counted = finding("trips", saving: 1000, severity: .error, claims: [])
        counted.weigh(isLongEnough: false, isLargePart: true, of: "trips")
        #expect(counted.severity == .warning && counted.reservations.isEmpty)
        var timed = finding("time", saving: 1e9, severity: .error, claims: [])
        timed.weigh(isLongEnough: true, isLargePart: true, of: "trips")
        #expect(timed.severity == .error)
        #expect(Significance.severity(saving: 2e6, wallTime: 0, isMainThread: false) == .warning)
        #expect(Significance.severity(saving: 2e7, wallTime: 0, isMainThread: false) == .error)
        #expect(Significance.severity(saving: 1e6, wallTime: 0, isMainThread: true) == .warning)
        #expect(Significance.severity(saving: 1000, wallTime: 100_000, isMainThread: false) == .warning)
        #expect(Significance.severity(saving: 1000, wallTime: 1_000_000, isMainThread: false) == .note)
        // Saving all of a run of half a millisecond is not an error.
        #expect(Significance.severity(saving: 5e5, wallTime: 500_000, isMainThread: true) == .warning)
    }

    @Test func `All findings are notes if too many events were lost`() throws {
        let whole = Analysis(Profile(GroceriesStory.trace))
        #expect(whole.findings.contains { $0.severity > .note })
        var trace = GroceriesStory.trace
        trace.insert(.lost(EventLoss(process: 7, thread: 99, events: 30)), at: trace.count - 1)
        let lossy = Analysis(Profile(trace))
        #expect(lossy.findings.count == whole.findings.count)
        #expect(lossy.findings.allSatisfy { $0.severity == .note })
        let quality = try #require(lossy.quality)
        #expect(quality.severity == .error)
        #expect(
            quality.explanation.map(\.text).first
                == "30 events (14 %) were lost because the buffers were full: counts and times are too low.")
    }

    @Test func `A complete trace is reported as complete`() throws {
        let quality = try #require(Analysis(Profile(GroceriesStory.trace)).quality)
        #expect(quality.title.text == "The trace is complete")
        #expect(quality.explanation.isEmpty)
        #expect(quality.severity == .note)
    }

    @Test func `An empty trace is reported as proving nothing`() throws {
        let analysis = Analysis(Profile())
        #expect(analysis.findings.isEmpty)
        #expect(
            analysis.quality?.explanation.map(\.text) == ["The trace is empty, so it says nothing about the program."])
        #expect(analysis.checks.first { $0.rule == "R01" }?.examined?.text == nil)
    }

    @Test func `Each gap in a trace is explained in a sentence`() throws {
        var builder = TraceBuilder()
        let cut = builder.stack(10, isTruncated: true)
        let unknown = builder.define(.stack(StackEntry(frames: ["0xdead"])))
        for stack in [cut, unknown] { builder.event(.fetch(TraceEvent.Fetch()), duration: 1000, stack: stack) }
        var use = TraceEvent.Use()
        use.state = .open
        builder.event(.use(use))
        builder.event(.fetch(TraceEvent.Fetch()), duration: 1000)
        let trace = builder.closed {
            $0.isClosed = false
            $0.unwritten = 2
            $0.entriesLost = 1
            $0.usesLost = 4
        }
        let analysis = Analysis(Profile(trace))
        #expect(
            try #require(analysis.quality).explanation.map(\.text) == [
                "2 lines could not be written: counts and times are too low.",
                "1 name was lost: some events have no name or line.",
                "3 events refer to names that the trace does not have: their dictionary was overwritten or lost.",
                "The use of 4 results was lost: batch sizes are evaluated without it.",
                "Process 7 was killed: the trace has all work that it had finished, but nothing that was in progress.",
                "50 % of the stacks are cut short: some lines may be those of a library.",
                "1 of 2 stacks has no line of the program; if it was stripped, record a build with symbols.",
                "1 result was still in use at the end: values that were not read yet may have been read later.",
                "No scope was marked, so pauses and the lifetimes of fetches stand in for screens and requests.",
            ])
    }

    @Test func `The same trace gives the same findings`() {
        let first = Analysis(Profile(GroceriesStory.trace))
        let second = Analysis(Profile(GroceriesStory.trace))
        #expect(first.findings == second.findings)
        #expect(first.checks == second.checks)
        #expect(first.findings.map(\.rule) == ["R01", "R02", "R09"])
        let saved = first.findings.reduce(0) { $0 + $1.saving.time.median }
        #expect(saved <= Double(first.profile.totals.storeTime))
    }

    @Test func `Good patterns are checked by every rule and not reported`() {
        var groceries = Groceries(prefetch: ["list"])
        groceries.scroll(rows: 100, batchSize: 15, screen: 10, times: 5)
        let analysis = Analysis(Profile(groceries.trace.closed()))
        #expect(analysis.findings.isEmpty)
        let rules =
            "R01 R02 R03 R04 R05 R06 R07 R08 R09 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19 R20 R21 R22 R23 R24 R25 R26 R27 R28 R29 R30 R31 R32 R33"
        #expect(analysis.checks.map(\.rule).joined(separator: " ") == rules)
    }

    @Test func `The cost of a shape is fitted if the trace has enough trips of it`() {
        var groceries = Groceries()
        for rows in 1...30 as ClosedRange<UInt32> { _ = groceries.fetch(rows: rows) }
        let profile = Profile(groceries.trace.closed())
        let estimate = CostModel(profile).rows(of: ShapeEntry(entity: "Item", sort: ["name ascending"]))
        #expect(estimate.basis == .shape)
        #expect(estimate.confidence.level == .high)
        #expect(estimate.line == CostLine(trip: 10_000, row: 2000))
        let other = CostModel(profile).rows(of: ShapeEntry(entity: "List"))
        #expect(other.basis == .store)
        let assumed = CostModel(Profile()).rows(of: ShapeEntry(entity: "List")).confidence
        #expect(assumed.level == .low)
        #expect(assumed.reason == "the costs of trips and rows are assumed, as the trace has too few trips")
    }

    /// A calibration that measured trips of 5 µs each plus 500 ns per row.
    private static let calibration = CalibrationEntry(
        trips: (1...24).map { .init(rows: $0, bytes: 48 * $0, duration: 5000 + 500 * $0) })

    @Test func `The calibration stands in for trips that the trace does not have`() throws {
        var groceries = Groceries()
        (groceries.trip, groceries.row) = (20_000, 2000)
        for rows in 1...19 as ClosedRange<UInt32> { _ = groceries.fetch(rows: rows) }
        _ = groceries.trace.define(.calibration(Self.calibration))
        let profile = Profile(groceries.trace.closed())
        #expect(profile.processes.count == 1)
        let estimate = CostModel(profile).rows(of: ShapeEntry(entity: "List"))
        #expect(estimate.basis == .calibration && estimate.confidence.level == .low && estimate.trips == 24)
        // The trace's own trips take four times as long.
        #expect(estimate.line == CostLine(trip: 20_000, row: 2000))
        let (trips, rows) = (estimate.range { $0.trip }, estimate.range { $0.row })
        #expect([trips.low, trips.median, trips.high] == [10_000, 20_000, 40_000])
        #expect([rows.low, rows.median, rows.high] == [1000, 2000, 4000])
        let again = try Profile(fileData: profile.fileData())
        #expect(CostModel(again).store == CostModel(profile).store)
        // Quicker trips in the trace do not lower the calibrated costs.
        var quick = Groceries()
        (quick.trip, quick.row) = (500, 50)
        for rows in 1...19 as ClosedRange<UInt32> { _ = quick.fetch(rows: rows) }
        _ = quick.trace.define(.calibration(Self.calibration))
        #expect(CostModel(Profile(quick.trace.closed())).store.line == CostLine(trip: 5000, row: 500))
        // With one more trip, the trace has enough of its own.
        _ = groceries.fetch(rows: 20)
        #expect(CostModel(Profile(groceries.trace.closed())).store.basis == .store)
    }

    @Test func `Calibrations of several traces add up, whichever process measured them`() throws {
        func profile(process: UInt32) -> Profile {
            var groceries = Groceries(process: 7)
            _ = groceries.fetch(rows: 3)
            return Profile([.entry(process: process, id: 1, .calibration(Self.calibration))] + groceries.trace.closed())
        }
        var (one, other) = (profile(process: 100), profile(process: 200))
        #expect(one.processes.map(\.process) == [7])
        let alone = other
        try other.merge(one)
        try one.merge(alone)
        #expect(CostModel(one).store.trips == 48 && CostModel(one).store == CostModel(other).store)
        // Trips among other work take longer than in a tight loop; with so few, the factor is assumed.
        #expect(CostModel(alone).store.line == CostLine(trip: 7500, row: 750))
    }

    @Test(arguments: [0, UInt64.max]) func `Impossible calibration values do no harm`(_ number: UInt64) {
        let trips = (0..<40).map { place in
            let rows = place.isMultiple(of: 2) ? number : UInt64(place)
            return CalibrationEntry.Trip(rows: rows, bytes: number, duration: number)
        }
        var groceries = Groceries()
        _ = groceries.trace.define(.calibration(CalibrationEntry(trips: trips)))
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<10 { groceries.fault(UInt64(object) + 1, of: fetch) }
        }
        let found = Analysis(Profile(groceries.trace.closed())).findings
        #expect(found.contains { $0.rule == "R01" })
        #expect(found.allSatisfy { $0.saving.time.median.isFinite && $0.saving.time.high.isFinite })
    }

    @Test func `Trips of one size give the cost per row, with the fixed cost of other trips`() {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 1000, batchSize: 50)
        for batch in 0..<20 as Range<UInt32> { groceries.batch(of: fetch, first: batch * 50, rows: 50) }
        for object in 1...30 { groceries.fault(UInt64(object), of: 0) }
        let costs = CostModel(Profile(groceries.trace.closed()))
        #expect(costs.store.basis == .store)
        #expect(costs.store.line == CostLine(trip: 10_000, row: 2000))
        let estimate = costs.rows(of: ShapeEntry(entity: "Item", sort: ["name ascending"]))
        #expect(estimate.basis == .size)
        #expect(estimate.line == CostLine(trip: 10_000, row: 2000))
        #expect(estimate.confidence.level == .medium)
    }

    @Test func `One trip of long rows estimates their cost better than many trips of short rows`() {
        var groceries = Groceries()
        for object in 1...30 { groceries.fault(UInt64(object), of: 0) }
        var fetch = TraceEvent.Fetch()
        (fetch.shape, fetch.rows, fetch.trips, fetch.bytes) = (groceries.shape, 50, 1, 50 * 20_000)
        groceries.trace.event(.fetch(fetch), duration: 1_012_000)
        let estimate = CostModel(Profile(groceries.trace.closed()))
            .rows(of: ShapeEntry(entity: "Item", sort: ["name ascending"]))
        #expect(estimate.basis == .size && estimate.confidence.level == .low)
        #expect(abs(estimate.line.row - 20_000) < 50)
        let range = estimate.range { $0.row }
        #expect(range.low < 0.6 * range.median && range.high > 1.4 * range.median)
        // With few rows, the trip itself may have taken long.
        var few = Groceries()
        for object in 1...30 { few.fault(UInt64(object), of: 0) }
        _ = few.fetch(rows: 19)
        let other = CostModel(Profile(few.trace.closed()))
        #expect(other.rows(of: ShapeEntry(entity: "Item", sort: ["name ascending"])).basis == other.store.basis)
    }

    @Test func `The cost per byte is fitted if rows differ in length`() {
        var groceries = Groceries()
        for rows in 5...30 as ClosedRange<UInt32> {
            var fetch = TraceEvent.Fetch()
            fetch.shape = groceries.shape
            fetch.rows = rows
            fetch.trips = 1
            let size = UInt64(rows % 5 + 1) * 4096
            fetch.bytes = size * UInt64(rows)
            groceries.trace.event(.fetch(fetch), duration: UInt64(rows) * (2000 + size / 2))
        }
        let costs = CostModel(Profile(groceries.trace.closed()))
        #expect(costs.isByteFitted)
        #expect(costs.byte > 0.2)
        #expect(costs.byte < 0.8)
    }
}
