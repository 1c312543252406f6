import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R02: batch size")
struct BatchSizeRuleTests {
    private func findings(_ groceries: Groceries) -> [Finding] {
        Analysis(Profile(groceries.trace.closed()), rules: [BatchSizeRule()]).findings
    }

    private func scroll(rows: UInt32 = 100, batchSize: UInt32, screen: UInt32, times: Int = 1) -> [Finding] {
        var groceries = Groceries()
        groceries.scroll(rows: rows, batchSize: batchSize, screen: screen, times: times)
        return findings(groceries)
    }

    @Test(arguments: [(6, 10, 17), (10, 15, 10), (16, 25, 7), (20, 30, 5)] as [(UInt32, UInt32, Int)])
    func `A batch of 50 rows is too large for a screen, and one and a half screens are not`(
        _ screen: UInt32, _ advised: UInt32, _ windows: Int
    ) throws {
        let found = scroll(batchSize: 50, screen: screen)
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.title.text == "Set the batch size of Item to \(advised) (now 50)")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["request.fetchBatchSize = \(advised)"])
        #expect(finding.severity >= .warning)
        #expect(
            finding.explanation.map(\.text).first
                == "\(windows) screens seen: 95 % of them show at most \(screen) rows, and 50 rows are loaded at a time."
        )
        #expect(try #require(finding.saving.pause).median > 0)
        #expect(scroll(batchSize: advised, screen: screen).isEmpty)
    }

    @Test func `R02 advises a batch size for an unbatched fetch that is scrolled through`() throws {
        let finding = try #require(scroll(batchSize: 0, screen: 10).first)
        #expect(finding.title.text == "Set the batch size of Item to 15 (now all rows at once)")
        #expect(finding.saving.memory == 8500)
        #expect(scroll(rows: 30, batchSize: 0, screen: 10, times: 3).isEmpty)
    }

    @Test func `A batch smaller than a screen is reported as too small`() throws {
        let finding = try #require(scroll(batchSize: 5, screen: 20).first)
        #expect(finding.title.text == "Set the batch size of Item to 30 (now 5)")
        #expect(finding.fix.text == "Load each screen in one batch, with half a screen to spare.")
        #expect(finding.saving.trips == 16)
        #expect(finding.saving.time.median > 0)
    }

    /// The finding for a list of 1,000 sorted rows that are loaded at once, and screens of 20 rows.
    private func sorted(step: UInt64, materialise: UInt64) throws -> Finding {
        var groceries = Groceries()
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (groceries.item, groceries.shape, 1000, 1)
        (fetch.step, fetch.materialise) = (step, materialise)
        let id = groceries.trace.event(.fetch(fetch), duration: step + materialise, site: groceries.fetchSite)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.fullScanSteps, statement.sorts) = (1000, 9999, 1)
        groceries.trace.event(.sql(statement), duration: step, parent: id, advancing: false)
        var use = Groceries.use(of: id, rows: 1000, batchSize: 0)
        (use.touchedRows, use.runs) = (120, [.init(first: 0, rows: 120)])
        use.windows = [.init(scopeKind: .screen, rows: 20, times: 6)]
        groceries.add(use)
        return try #require(findings(groceries).first)
    }

    @Test func `The saving excludes the time to scan and sort, which fetching the IDs needs as well`() throws {
        // 10,000 rows are scanned and 1,000 are sorted, with or without batches.
        let finding = try sorted(step: 2_000_000, materialise: 1_000_000)
        let comparisons = 1000 * 9.966
        let sorting = 600_000 + 50 * comparisons
        let pause = try #require(finding.saving.pause)
        #expect(pause.median < 3_000_000 - sorting && pause.median > 0)
        #expect(pause.low < pause.median && pause.high > pause.median)
        let quick = try sorted(step: 1_100_000, materialise: 200_000)
        #expect(try #require(quick.saving.pause).low == 0)
    }

    @Test func `A batched result that other code loads in full is not reported`() throws {
        func findings(loaded: UInt32) -> [Finding] {
            var groceries = Groceries()
            let fetch = groceries.fetch(rows: 1000, batchSize: 50)
            for batch in 0..<20 as Range<UInt32> { groceries.batch(of: fetch, first: batch * 50, rows: 50) }
            var use = Groceries.use(of: fetch, rows: 1000, batchSize: 50)
            (use.loadedRows, use.touchedRows, use.runs) = (loaded, 120, [.init(first: 0, rows: 120)])
            use.windows = [.init(scopeKind: .screen, rows: 20, times: 6)]
            groceries.add(use)
            return self.findings(groceries)
        }
        #expect(findings(loaded: 150).count == 1)
        #expect(findings(loaded: 1000).isEmpty)
    }

    @Test func `One execution with one or two screens is not reported`() {
        #expect(scroll(rows: 20, batchSize: 50, screen: 20, times: 1).isEmpty)
        #expect(scroll(rows: 90, batchSize: 50, screen: 45, times: 1).isEmpty)
    }

    @Test func `A batch that holds the whole result is not reported`() {
        #expect(scroll(rows: 12, batchSize: 50, screen: 6, times: 5).isEmpty)
    }

    @Test func `Screens in scopes of kind setup do not count`() {
        var groceries = Groceries()
        groceries.scoped(.setup) { $0.scroll(rows: 100, batchSize: 50, screen: 10) }
        #expect(findings(groceries).isEmpty)
    }

    @Test func `Without scopes, pauses stand in for screens`() throws {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 100, batchSize: 50)
        groceries.batch(of: fetch, first: 0, rows: 50)
        groceries.batch(of: fetch, first: 50, rows: 50)
        var use = Groceries.use(of: fetch, rows: 100, batchSize: 50)
        use.windows = [.init(scopeKind: nil, rows: 10, times: 10)]
        groceries.add(use)
        let finding = try #require(findings(groceries).first)
        #expect(finding.title.text == "Set the batch size of Item to 15 (now 50)")
        #expect(
            finding.reservations.map(\.text).contains(
                "No scope marks a screen, so pauses between touched rows stand in for screens."))
        #expect(finding.confidence.level <= .medium)
    }

    /// Findings for three passes over 10,000 rows, with a batch of another size in each to fit the costs.
    private func pass(
        batchSize: UInt32, touching touched: UInt32 = 10_000, kind: TraceEvent.Scope.Kind = .bulk,
        updating updated: UInt64 = 0, pause: UInt64 = 0
    ) -> [Finding] {
        var groceries = Groceries()
        groceries.trace.now += pause
        if updated > 0 {
            var save = TraceEvent.Save()
            (save.updated, save.trips) = (UInt32(updated), 3)
            save.entities = [.init(entity: groceries.item, updated: updated)]
            groceries.trace.event(.save(save), duration: 1_000_000)
        }
        groceries.scoped(groceries.screenName, kind, pause: 0) { groceries in
            for round in 0..<3 as Range<UInt32> {
                let fetch = groceries.fetch(rows: 10_000, batchSize: batchSize)
                if batchSize > 0 {
                    for batch in 0..<(touched / batchSize) {
                        groceries.batch(of: fetch, first: batch * batchSize, rows: batchSize)
                    }
                    groceries.batch(of: fetch, first: 9990, rows: 3 + round)
                }
                var use = Groceries.use(of: fetch, rows: 10_000, batchSize: batchSize)
                use.touchedRows = touched
                use.loadedRows = batchSize == 0 ? 10_000 : touched
                use.runs = [.init(first: 0, rows: UInt64(touched))]
                use.windows = [.init(scopeKind: kind == .other ? nil : kind, rows: UInt64(touched), times: 1)]
                groceries.add(use)
            }
        }
        return findings(groceries)
    }

    @Test func `R02 advises loading all rows at once instead of in tiny batches in bulk work`() throws {
        let finding = try #require(pass(batchSize: 5).first)
        #expect(finding.title.text == "Load Item at once, without batches (now 5)")
        #expect(finding.saving.trips == 6000)
        #expect(finding.severity >= .warning)
        let curve = try #require(finding.batchCurve)
        #expect(curve.points.map(\.batchSize) == ResultUse.candidates.dropFirst() + [0])
        #expect(curve.current == 5 && curve.advised == 0 && curve.plateau.last == 0 && curve.plateau.first != 5)
        #expect(curve.points.map(\.wait) == curve.points.map(\.wait).sorted())
    }

    @Test(arguments: [UInt32(0), 500])
    func `Bulk work at once or in large batches is not reported`(_ size: UInt32) {
        #expect(pass(batchSize: size).isEmpty)
    }

    @Test func `R02 advises a batch size from 20 to 500 for bulk work on a part of the rows`() throws {
        let finding = try #require(pass(batchSize: 5, touching: 4000).first)
        #expect(finding.title.text.hasPrefix("Set the batch size of Item to "))
        let curve = try #require(finding.batchCurve)
        // The one that needs the fewest trips.
        #expect(curve.advised >= 20 && curve.advised == curve.plateau.last { $0 > 0 && $0 <= 500 })
        #expect(finding.fix.text.contains("needs the fewest trips"))
    }

    @Test func `A great ratio of short times is no error`() {
        #expect(pass(batchSize: 1).map(\.severity) == [.error])
        #expect(pass(batchSize: 1, pause: 1_000_000_000_000).map(\.severity) == [.warning])
    }

    @Test func `Batches save no memory if the program changes the rows`() {
        let long = { (updated: UInt64) in self.pass(batchSize: 0, touching: 9000, updating: updated) }
        #expect(long(0).allSatisfy { $0.saving.memory > 0 })
        #expect(long(30_000).allSatisfy { $0.saving.memory == 0 })
    }

    /// Findings for passes over 10,000 rows that use one row out of every `gap`.
    private func pick(oneOf gap: UInt32, batchSize: UInt32) -> [Finding] {
        var groceries = Groceries()
        groceries.scoped(groceries.screenName, .bulk, pause: 0) { groceries in
            for round in 0..<3 as Range<UInt32> {
                let fetch = groceries.fetch(rows: 10_000, batchSize: batchSize)
                let touched = 10_000 / gap
                let batches = min(touched, 10_000 / batchSize)
                for batch in 0..<batches {
                    groceries.batch(of: fetch, first: batch * (10_000 / batches), rows: batchSize)
                }
                groceries.batch(of: fetch, first: 9990, rows: 3 + round)
                var use = Groceries.use(of: fetch, rows: 10_000, batchSize: batchSize)
                (use.touchedRows, use.loadedRows) = (touched, batches * batchSize)
                use.runs = (0..<touched).map { .init(first: UInt64($0 * gap), rows: 1) }
                use.windows = [.init(scopeKind: .bulk, rows: UInt64(touched), times: 1)]
                groceries.add(use)
            }
        }
        return findings(groceries)
    }

    @Test func `R02 advises small batches for scattered reads`() throws {
        let finding = try #require(pick(oneOf: 100, batchSize: 100).first)
        let advised = try #require(finding.batchCurve?.advised)
        #expect(advised == 5)
        #expect(finding.title.text == "Set the batch size of Item to 5 (now 100)")
        #expect(
            finding.explanation.map(\.text) == [
                "300 of 30,000 rows were used in scattered places, in 3 results.",
                "100 rows were loaded for each that was used.",
            ])
        #expect(
            finding.fix.text.hasPrefix("The program reads scattered rows, and small batches load the fewest unused "))
        // 19 of 20 rows are not loaded, with as many trips.
        #expect(finding.saving.rows == 300 * 95 && finding.saving.trips == 0)
    }

    @Test func `Reads in every batch, and sequential reads, are not reported as scattered`() throws {
        // Every batch of five has used rows if every second row is used.
        let dense = try #require(pick(oneOf: 2, batchSize: 5).first)
        #expect(dense.explanation.map(\.text).first?.contains("without pauses") == true)
        #expect(!dense.fix.text.contains("scattered"))
        #expect(pass(batchSize: 5, touching: 4000).map { $0.fix.text.contains("scattered") } == [false])
    }

    @Test func `Rows that take longer than a frame are reported as too large, and do not shrink the batch`() throws {
        var groceries = Groceries()
        groceries.row = 900_000
        groceries.scroll(rows: 100, batchSize: 50, screen: 10, times: 4)
        groceries.scroll(rows: 100, batchSize: 20, screen: 10, times: 4)
        let heavy = try #require(findings(groceries).first)
        #expect(heavy.title.text == "Set the batch size of Item to 15 (now 50)")
        #expect(
            heavy.explanation.map(\.text).last
                == "Even 15 rows take longer than a frame: the rows themselves are too large.")
        let light = try #require(scroll(batchSize: 50, screen: 10).first)
        #expect(light.explanation.map(\.text).allSatisfy { !$0.contains("too large") })
    }

    @Test func `Bulk work on results with a limit is not reported`() {
        func limited(_ isLimited: Bool) -> [Finding] {
            var groceries = Groceries()
            let shape = groceries.trace.define(
                .shape(ShapeEntry(entity: "Item", sort: ["name ascending"], isLimited: isLimited)))
            groceries.scoped(groceries.screenName, .bulk, pause: 0) { groceries in
                for _ in 0..<5 {
                    var fetch = TraceEvent.Fetch()
                    (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (groceries.item, shape, 4000, 1)
                    fetch.limit = isLimited ? 4000 : 0
                    let id = groceries.trace.event(.fetch(fetch), duration: 8_000_000, site: groceries.fetchSite)
                    var use = Groceries.use(of: id, rows: 4000, batchSize: 0)
                    (use.entity, use.shape, use.touchedRows) = (groceries.item, shape, 1000)
                    use.runs = [.init(first: 2000, rows: 1000)]
                    use.windows = [.init(scopeKind: .bulk, rows: 1000, times: 1)]
                    use.properties = [.init(index: 0, rowsRead: 1000, rowsLoaded: 4000, bytes: 8000, largeRows: 0)]
                    groceries.trace.event(.use(use))
                }
            }
            return findings(groceries)
        }
        #expect(limited(true).isEmpty)
        #expect(limited(false).count == 1)
    }

    @Test func `Touched rows that did not fit into the recording lower the confidence`() throws {
        func found(lost: UInt32) throws -> Finding {
            var groceries = Groceries()
            groceries.scroll(rows: 100, batchSize: 50, screen: 10, times: 3)
            let fetch = groceries.fetch(rows: 100, batchSize: 50)
            var use = Groceries.use(of: fetch, rows: 100, batchSize: 50)
            use.windows = [.init(scopeKind: .screen, rows: 10, times: 10)]
            use.runsLost = lost
            groceries.add(use)
            return try #require(findings(groceries).first)
        }
        let words = "Some touched rows did not fit into the recording, so the estimate of trips is too low."
        let (whole, cut) = (try found(lost: 0), try found(lost: 3))
        #expect(!whole.reservations.map(\.text).contains(words) && cut.reservations.map(\.text).contains(words))
        #expect(cut.confidence.level <= .medium && cut.confidence <= whole.confidence)
    }

    @Test func `A finding about screens has the curve of costs as well`() throws {
        let finding = try #require(scroll(batchSize: 50, screen: 10).first)
        let curve = try #require(finding.batchCurve)
        #expect(curve.current == 50 && curve.advised == 15)
        let now = try #require(curve[50])
        let then = try #require(curve[15])
        #expect(curve.plateau.last == 100)
        #expect(now.wait > then.wait && now.memory > then.memory && now.cost > 0)
    }

    @Test func `A batched result that was copied into an array is reported`() throws {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 1000, batchSize: 20)
        for batch in 0..<50 as Range<UInt32> { groceries.batch(of: fetch, first: batch * 20, rows: 20) }
        var use = Groceries.use(of: fetch, rows: 1000, batchSize: 20)
        use.windows = [.init(scopeKind: .screen, rows: 1000, times: 1)]
        use.properties = [.init(index: 0, rowsRead: 10, rowsLoaded: 1000, bytes: 20_000, largeRows: 0)]
        groceries.add(use)
        let found = findings(groceries)
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.title.text == "Read rows of Item from the result, not from a copy of it")
        #expect(finding.change?.description == "Scroll.swift:60")
        #expect(finding.saving.rows == 990)
    }

    @Test func `A batched result whose rows were all read is not reported`() {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 1000, batchSize: 200)
        for batch in 0..<5 as Range<UInt32> { groceries.batch(of: fetch, first: batch * 200, rows: 200) }
        var use = Groceries.use(of: fetch, rows: 1000, batchSize: 200)
        use.windows = [.init(scopeKind: .bulk, rows: 1000, times: 1)]
        use.properties = [.init(index: 0, rowsRead: 1000, rowsLoaded: 1000, bytes: 20_000, largeRows: 0)]
        groceries.add(use)
        #expect(findings(groceries).isEmpty)
    }
}
