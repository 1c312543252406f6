import CSQLite
import FaultlineRecorder
import Foundation
import Synchronization
import Testing

@testable import FaultlineWorkloads

/// The SELECT statements that SQLite itself reports on connections to one file, whoever opened them.
private enum SelectCounter {
    struct State {
        var path = ""
        var selects = 0
    }
    static let state = Mutex(State())

    /// Counts on every connection to that file that is opened from now on.
    static func start(path: String) {
        state.withLock { $0 = State(path: path) }
        typealias Initializer = @convention(c) () -> Void
        let install:
            @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?) ->
                Int32 = {
                    connection, _, _ in
                    let name = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
                    guard !name.isEmpty, name == SelectCounter.state.withLock({ $0.path }) else { return SQLITE_OK }
                    return sqlite3_trace_v2(
                        connection, UInt32(SQLITE_TRACE_STMT),
                        { _, _, _, text in
                            let sql = String(cString: text!.assumingMemoryBound(to: CChar.self))
                            if sql.hasPrefix("SELECT") { SelectCounter.state.withLock { $0.selects += 1 } }
                            return 0
                        }, nil)
                }
        _ = sqlite3_auto_extension(unsafeBitCast(install, to: Initializer.self))
    }
}

@Suite("The trips of a report", .serialized)
struct RoundTripTests {
    @Test("are the SELECTs that SQLite counts", arguments: ["all", "none"])
    func trips(flaws: String) throws {
        let directory = try TemporaryDirectory()
        let store = directory.url.appendingPathComponent("list.sqlite").resolvingSymlinksInPath()
        let trace = directory.path("trace.json")
        let form = GroceriesForm(items: 200, visibleRows: 10, flaws: flaws == "all" ? .all : [])
        try Groceries.prepare(form, at: store)
        SelectCounter.start(path: store.path)
        let recorder = try Recorder.writing(to: .timeline(path: trace))
        do {
            let groceries = try Groceries(form, at: store, recorder: recorder)
            _ = try groceries.run()
        }
        #expect(recorder.close() == nil)
        let selects = SelectCounter.state.withLock { $0.selects }
        #expect(selects > 20)
        let report = try ReportDocument(of: trace)
        #expect(report.totals.readTrips == UInt64(selects))
        let text = try BuiltCommand.run(["report", "--all", trace]).output
        #expect(text.contains("statements: \(selects) reads"))
    }
}
