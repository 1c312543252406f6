import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("The text report")
struct TextReportTests {
    private let story = Analysis(Profile(GroceriesStory.trace))

    @Test func `What statements did with files has a line of its own`() {
        var trace = TraceBuilder()
        let sql = trace.define(.statement(StatementEntry(sql: "INSERT INTO t VALUES (?)")))
        for _ in 0..<3 {
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type, statement.rows) = (sql, .write, 1)
            (statement.fileReads, statement.fileWrites) = (4, 500)
            (statement.syncs, statement.syncTime) = (2, 800_000)
            trace.event(.sql(statement), duration: 1_000_000)
        }
        let text = TextReport(Analysis(Profile(trace.closed())), showsAll: true).render()
        #expect(text.contains("  files: 12 reads, 1,500 writes · 6 syncs, 2.40 ms (80 % of the store's time)\n"))
        #expect(!TextReport(story, showsAll: true).render().contains("files:"))
    }

    @Test func `Times whose sum is too large to count end no report`() {
        var trace = TraceBuilder()
        for line in 1...2 {
            trace.event(
                .fetch(TraceEvent.Fetch()), duration: 1 << 63, site: trace.site(line), advancing: false)
        }
        #expect(TextReport(Analysis(Profile(trace.closed()))).render().contains("  fetch "))
    }

    @Test func `The report of the sample trace has exactly this text`() {
        #expect(
            TextReport(story).render() == """
                groceries: 4.11 ms, 180 events, none lost, writing 120 µs
                  store: 2.11 ms, 51 % of the recorded time; 109 trips; 300 rows and 19.5 KiB read

                What to change
                  1. warning  R01 N+1 faults                                                           List.swift:42
                     Prefetch "list" with the fetch of Item.
                     Item.list went to the store in 100 trips for 100 objects, 1.20 ms in all. They belong to
                     1 fetch of Item with 100 loaded rows; all of them were affected. Observed at Scroll.swift:57.
                     → request.relationshipKeyPathsForPrefetching = ["list"]
                     Saves 982 µs (354 µs–1.13 ms), 24 % of the run, 99 trips. Confidence: medium.
                  2. warning  R02 Batch size                                                           List.swift:42
                     Set the batch size of Item to 15 (now 50).
                     10 screens seen: 95 % of them show at most 10 rows, and 50 rows are loaded at a time. The first
                     screen loads 40 rows that it never shows, and would load 5 with batches of 15. Observed at
                     Scroll.swift:60.
                       batch size        5  15 advised       20  50 now     all
                       one batch   20.0 µs     40.0 µs  50.0 µs  110 µs  210 µs
                       total        460 µs      330 µs   310 µs  280 µs  210 µs
                       Sizes 35–100 take the same total time within 10 %.
                     → request.fetchBatchSize = 15
                     Shortens each wait by 70.0 µs (59.5–112 µs), at the price of 5 more trips and 50.0 µs more in
                     all. Confidence: medium.
                  3. warning  R09 Large values in hot rows                                            Model.swift:12
                     Move Item.image into an entity of its own.
                     100 % of the values have at least 16 KiB; the average is 39.1 KiB. 1 fetch loaded it in
                     100 rows, 3.81 MiB in all; the program read it in 0. Observed at List.swift:42.
                     → // In the model: Item.image: to-one ItemImage; ItemImage.value: Binary
                       or: List the other properties in propertiesToFetch.
                     Saves 100 µs (50.0–200 µs), 2.4 % of the run, 3.81 MiB of reading, 3.81 MiB of peak object
                     memory. Confidence: low, because the cost of a byte is estimated from rows of one size.

                Hotspots  (spread from 100 ns to 1 ms)
                  kind            what          count      p50      p99  spread    rows    total  call site
                  fault           Item.list       100  12.0 µs  12.0 µs      █      100  1.20 ms  Scroll.swift:57
                  save            Item              1   400 µs   400 µs         █     3   400 µs  List.swift:90
                  fetch           Item by name      2  60.0 µs   210 µs       ██    200   270 µs  List.swift:42
                  batch           Item by name      2   110 µs   110 µs        █    100   220 µs  Scroll.swift:60
                  fault (cached)  Item.list        50   300 ns   300 ns  █           50  15.0 µs  Scroll.swift:57

                Where the store's time went  (2.11 ms, 51 % of the recorded time; 2.11 ms on the main thread)
                                            count  rows  trips     time  share
                  fetch                         2   200      2   270 µs   13 %  ███
                  batch                         2   100      2   220 µs   10 %  ██
                  fault from the store        100   100    100  1.20 ms   57 %  ███████████
                  fault from the row cache     50    50      0  15.0 µs  0.7 %
                  save                          1     3      5   400 µs   19 %  ████

                Checked: of 32 rules, 3 found something, 12 found nothing and 17 do not apply to this trace; --all
                         lists them.
                  R05 Counts and sums by fetching: An older recorder did not record changes to 2 results, so
                      sums over them are not detected.

                """)
    }

    @Test func `An empty trace has a report`() {
        #expect(
            TextReport(Analysis(Profile())).render() == """
                trace: 0 ns, 0 events, none lost
                  ! The trace is empty, so it says nothing about the program.

                Checked: of 32 rules, 32 do not apply to this trace; --all lists them.

                """)
    }

    @Test func `The report fits on a screen`() {
        let lines = TextReport(story).render().dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 53)
        #expect(lines.allSatisfy { $0.count <= 100 })
    }

    @Test(arguments: [80, 90, 100])
    func `No line is wider than requested`(_ width: Int) {
        let lines = TextReport(story).render(width: width).split(separator: "\n")
        #expect(lines.filter { $0.count > width } == [])
    }

    @Test func `Colours appear only on request, and change no words`() {
        let plain = TextReport(story).render()
        let coloured = TextReport(story).render(colour: true)
        #expect(!plain.contains("\u{1B}"))
        #expect(coloured.contains("1. warning\u{1B}[0m"))
        #expect(coloured.replacing(#/\u{1B}\[[0-9;]*m/#, with: "") == plain)
    }

    @Test func `The time of fetches, batches and faults is split if the trace has its parts`() {
        var builder = TraceBuilder()
        var fetch = TraceEvent.Fetch()
        (fetch.trips, fetch.rows, fetch.prepare, fetch.step) = (1, 10, 100_000, 600_000)
        builder.event(.fetch(fetch), duration: 1_000_000)
        var batch = TraceEvent.Batch()
        (batch.trips, batch.rows, batch.wait, batch.prepare, batch.step) = (1, 10, 200_000, 100_000, 700_000)
        builder.event(.batch(batch), duration: 1_000_000)
        var fault = TraceEvent.Fault()
        (fault.source, fault.wait, fault.prepare, fault.step) = (.store, 100_000, 300_000, 500_000)
        builder.event(.fault(fault), duration: 1_000_000)
        let report = TextReport(Analysis(Profile(builder.closed())), showsAll: true).render()
        #expect(
            report.contains(
                "  faults: 10 % waiting, 30 % preparing, 50 % stepping through rows, 10 % filling objects\n"))
        #expect(
            report.contains(
                "  fetches: 10 % preparing, 60 % stepping through rows, 30 % prefetching and making objects\n"))
        #expect(report.contains("  batches: 20 % waiting, 10 % preparing, 70 % stepping through rows\n"))
    }

    @Test func `Rows that the row cache evicted are shown below the table`() {
        var builder = TraceBuilder()
        var fetch = TraceEvent.Fetch()
        (fetch.trips, fetch.rows) = (1, 1500)
        builder.event(.fetch(fetch), duration: 1_000_000)
        var eviction = TraceEvent.Eviction()
        (eviction.rows, eviction.bytes) = (1200, 2 << 20)
        builder.event(.eviction(eviction), duration: 0)
        let report = TextReport(Analysis(Profile(builder.closed())), showsAll: true).render()
        #expect(report.contains("  1,500 rows loaded · 1,200 rows evicted from the row cache (2.00 MiB)\n"))
    }

    @Test func `Lost events are shown at the top`() {
        var trace = GroceriesStory.trace
        trace.insert(.lost(EventLoss(process: 7, thread: 99, events: 30)), at: trace.count - 1)
        let lines = TextReport(Analysis(Profile(trace))).render().split(separator: "\n")
        #expect(lines[0].contains("30 lost"))
        #expect(
            lines[1] == "  ! 30 events (14 %) were lost because the buffers were full: counts and times are too low.")
    }

    @Test func `Lines that could not be written do not count as lost events`() {
        var trace = GroceriesStory.trace
        trace.removeLast()
        trace.append(.ended(ProcessEnded(process: 7, events: 180, lost: 2, unwritten: 40)))
        var builder = ProfileBuilder()
        for message in trace { builder.add(message) }
        builder.addUnread(1)
        let lines = TextReport(Analysis(builder.finish())).render().split(separator: "\n")
        #expect(lines[0].contains("events, 2 lost, 40 lines not written, 1 damaged part"))
        #expect(lines.contains("  ! 40 lines could not be written: counts and times are too low."))
    }

    @Test func `A trace of statements alone has a report`() throws {
        var builder = TraceBuilder()
        let text = builder.define(.statement(StatementEntry(sql: "SELECT name\n  FROM track WHERE id = ?")))
        for _ in 0..<3 {
            var statement = TraceEvent.Statement()
            statement.statement = text
            statement.rows = 1
            builder.event(.sql(statement), duration: 5000)
        }
        let report = TextReport(Analysis(Profile(builder.closed()))).render()
        #expect(report.contains("  statement      3     3      3  15.0 µs  100 %  ████████████████████\n"))
        #expect(report.contains("sql   SELECT name FROM track WHERE id = ?"))
    }

    // MARK: - The spread of durations

    private func hotspots(_ entity: String, width: Int, showsAll: Bool = false) -> [String] {
        var trace = TraceBuilder()
        let item = trace.entity(entity)
        for duration: UInt64 in [2_000, 3_000, 40_000] {
            var fault = TraceEvent.Fault()
            (fault.entity, fault.source, fault.filled) = (item, .store, 1)
            trace.event(.fault(fault), duration: duration)
        }
        let text = TextReport(Analysis(Profile(trace.closed())), showsAll: showsAll).render(width: width)
        let lines = text.split(separator: "\n").map(String.init)
        return Array(lines.drop { !$0.hasPrefix("Hotspots") }.prefix(3))
    }

    @Test func `Hotspots show the spread of durations if the width allows`() {
        #expect(
            hotspots("Item", width: 100) == [
                "Hotspots  (spread from 1 µs to 100 µs)",
                "  kind   what  count      p50      p99  spread    rows    total  call site",
                "  fault  Item      3  3.00 µs  40.0 µs   █    ▄      3  45.0 µs  –",
            ])
        #expect(
            hotspots("Item", width: 90) == [
                "Hotspots", "  kind   what  count      p50      p99  rows    total  call site",
                "  fault  Item      3  3.00 µs  40.0 µs     3  45.0 µs  –",
            ])
    }

    @Test func `The spread takes no room from names, unless everything is to be shown`() {
        let name = String(repeating: "Item", count: 10)
        #expect(!hotspots(name, width: 100)[1].contains("spread") && hotspots(name, width: 100)[2].contains(name))
        #expect(hotspots(name, width: 120)[1].contains("spread") && hotspots(name, width: 120)[2].contains(name))
        let all = hotspots(name, width: 80, showsAll: true)
        #expect(all[1].contains("spread") && !all[2].contains(name) && all.allSatisfy { $0.count <= 80 })
    }
}
