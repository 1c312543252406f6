import Foundation
import Testing

@Suite("Call stacks of recorded programs")
struct StackTests {
    private static let hasStrip = FileManager.default.isExecutableFile(atPath: "/usr/bin/strip")

    /// In a debug build, a stack used to start with a dozen frames of the recorder and end at `DispatchQueue.sync`.
    @Test("go from the store's frame to main, without the recorder's frames")
    func wholeStacks() throws {
        let directory = try TemporaryDirectory()
        let (trace, _) = try MusicProgram.record(["count"], isNaive: true, in: directory)
        let sql = """
            SELECT stack, min(CASE depth WHEN 0 THEN module || ' ' || function END) AS innermost,
                sum(function LIKE 'fl_%' AND depth < 3) AS recorder, max(function IN ('main', 'MusicProgram_main')) AS main
            FROM frames WHERE stack IN (SELECT stack FROM fetch) GROUP BY 1
            """
        let result = try BuiltCommand.run(["query", trace, sql, "--format", "json"])
        let lines = result.output.split(separator: "\n")
        #expect(!lines.isEmpty, "\(result.errors)")
        for line in lines {
            #expect(line.contains(#""innermost":"MusicProgram "#) && line.contains("FaultlineStore."), "\(line)")
            #expect(line.contains(#""recorder":0,"main":1}"#), "\(line)")
        }
    }

    @Test(
        "distinguish call sites of a stripped program by address, and report missing symbols",
        .enabled(if: hasStrip, "needs strip: install binutils"))
    func stripped() throws {
        let directory = try TemporaryDirectory()
        let program = directory.path("Stripped")
        let stripped = try BuiltCommand.run(
            ["-o", program, BuiltCommand.programs.appendingPathComponent("MusicProgram").path],
            program: "/usr/bin/strip")
        try #require(stripped.status == 0, "\(stripped.errors)")
        let store = directory.path("music.sqlite")
        try #require(try BuiltCommand.run([store, "prepare"], program: program).status == 0)
        let trace = directory.path("trace.json")
        let recorded = try BuiltCommand.run(
            ["record", "-o", trace, "--", program, store, "naive", "prefetch"])
        #expect(recorded.errors.contains("no line of the program; if it was stripped, record a build with symbols."))
        let sites = try BuiltCommand.run([
            "query", trace, "SELECT DISTINCT callSite FROM cacheHits", "--format", "json",
        ])
        #expect(sites.output.contains(#"{"callSite":"Stripped+0x"#), "\(sites.output)")
    }

    /// Its stacks used to be reported as those of a stripped program.
    @Test("of a running program are resolved, and its trace is unchanged")
    func running() throws {
        let directory = try TemporaryDirectory()
        let (ready, stop) = (directory.path("ready"), directory.path("stop"))
        let (trace, copy) = (directory.path("trace.json"), directory.path("copy.json"))
        // The program's own thread writes the events, some milliseconds after they happen.
        let script = """
            FAULTLINE_TRACE=timeline:\(trace) \(UnrulyProgram.path) lingers \(ready) \(stop) &
            while ! [ -e \(ready) ]; do :; done
            while ! grep -q '"ph":"X"' \(trace); do :; done
            \(BuiltCommand.faultline) report \(trace)
            cp \(trace) \(copy); touch \(stop); wait
            """
        let result = try BuiltCommand.run(["-c", script], program: "/bin/sh")
        #expect(result.errors.contains("the program is still running; this is its recording so far"))
        #expect(result.output.contains("main.swift:") && !result.output.contains("stripped"), "\(result.output)")
        #expect(try !String(contentsOfFile: copy, encoding: .utf8).contains("faultline.frame"))
        #expect(try BuiltCommand.run(["report", trace]).output.contains("main.swift:"))
        #expect(try String(contentsOfFile: trace, encoding: .utf8).contains("faultline.frame"))
    }
}
