import Foundation
import Testing

@Suite("The report of an SQLDebug log")
struct SQLDebugReportTests {
    /// The log of a run agrees with its trace, as far as the log goes.
    @Test("A run's log, at any level, agrees with its trace", arguments: 1...4)
    func levels(level: Int) throws {
        let directory = try TemporaryDirectory()
        let program = BuiltCommand.programs.appendingPathComponent("MusicProgram").path
        let store = directory.path("music.sqlite")
        #expect(try BuiltCommand.run([store, "prepare"], program: program).status == 0)
        let trace = directory.path("trace.json")
        let run = try BuiltCommand.run(
            [store, "naive", "loop"], program: program,
            environment: ["FAULTLINE_TRACE": "timeline:\(trace)", "FAULTLINE_SQLDEBUG": "\(level)"])
        #expect(run.status == 0)
        let log = directory.path("app.log")
        try (run.output + run.errors).write(toFile: log, atomically: false, encoding: .utf8)
        let (recorded, logged) = (try ReportDocument(of: trace), try ReportDocument(of: log))
        #expect(logged.totals.readTrips == recorded.totals.readTrips)
        #expect(logged.totals.rowsLoaded == recorded.totals.rowsLoaded)
        #expect(logged.totals.events["fetch"] == recorded.totals.events["fetch"])
        // Without bound values, the loop is detected by the rows it returns.
        let loops = logged.findings.filter { $0.rule == "R04" }
        #expect(
            loops.map(\.title) == [
                level == 1
                    ? "Fetch the objects of Track at once, not one by one"
                    : "Fetch Track for all values of ZALBUM at once, with IN"
            ])
        #expect(recorded.findings.contains { $0.rule == "R04" })
    }

    @Test("Single faults are reported as an N+1, with the gaps of the log")
    func faults() throws {
        var lines = [
            "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTIMESTAMP FROM ZITEM t0",
            "annotation: sql connection fetch time: 0.0002s",
            "annotation: total fetch execution time: 0.0004s for 40 rows.",
        ]
        for number in 1...30 {
            lines += [
                "sql: SELECT 0, t0.Z_PK FROM Z_1TAGS t1 JOIN ZTAG t0 ON t0.Z_PK = t1.Z_2TAGS WHERE t1.Z_1ITEMS = ?",
                "annotation: sql connection fetch time: 0.0001s",
                "annotation: total fetch execution time: 0.0001s for 2 rows.",
                "annotation: to-many relationship fault \"tags\" for objectID 0xa7 <x-coredata://0783/Item/p\(number)> "
                    + "fulfilled from database.  Got 2 rows",
            ]
        }
        let log = try TemporaryDirectory().path("app.log")
        let text = lines.map { "2014-07-30 11:45:15.647 App[65858:2586192] CoreData: \($0)\n" }.joined()
        try text.write(toFile: log, atomically: false, encoding: .utf8)
        let result = try BuiltCommand.run(["report", log])
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.hasPrefix("App: "))
        #expect(result.output.contains("The trace has no call sites, "))
        #expect(result.output.contains("Prefetch \"tags\" with the fetch of Item."))
        let report = try ReportDocument(of: log)
        #expect(report.findings.first?.rule == "R01" && report.findings.first?.saving.trips == 29)
    }

    /// With plans, the log shows scans and sorts, but not what SQLite counts.
    @Test(
        "Plans show sorts, and scans of tables of known size",
        arguments: [("sort", "R19"), ("index", "R06")])
    func plans(scenario: String, rule: String) throws {
        let directory = try TemporaryDirectory()
        let program = BuiltCommand.programs.appendingPathComponent("MusicProgram").path
        let store = directory.path("music.sqlite")
        #expect(try BuiltCommand.run([store, "prepare"], program: program).status == 0)
        for (kind, count) in [("naive", 1), ("improved", 0)] {
            let log = directory.path("\(kind).log")
            // A fetch of all rows shows the size of the table.
            let run = try BuiltCommand.run(
                [store, kind, "unbounded", scenario], program: program, environment: ["FAULTLINE_SQLDEBUG": "4"])
            #expect(run.status == 0)
            try (run.output + run.errors).write(toFile: log, atomically: false, encoding: .utf8)
            let found = try ReportDocument(of: log).findings.filter { $0.rule == rule }
            #expect(found.count == count, "\(kind): \(found.map(\.title))")
            guard let finding = found.first else { continue }
            #expect(finding.title.hasPrefix("Index Track by Z"))
            let report = try BuiltCommand.run(["report", log]).output
            #expect(
                report.contains("→ Add a fetch index to Track in the model, on the attributes of these columns: first"))
            #expect(!report.contains("FetchIndexDescription"))
        }
    }
}
