import Foundation
import ProjectFiles
import SharedData
import Testing

@testable import FaultlineReport

@Suite("faultline export")
struct ExportTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func export(_ trace: String, to format: String, _ options: [String] = []) throws -> String {
        let path = directory.path("export.\(format)")
        let result = try BuiltCommand.run(["export", trace, "--to", format, "-o", path] + options)
        try #require(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result.errors)")
        return path
    }

    @Test("to a timeline keeps the report, whatever the trace's own format", arguments: SampleTraces.stories)
    func timeline(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let timeline = try export(trace, to: "timeline")
        for format in ["text", "json"] {
            let reports = try [trace, timeline].map { try BuiltCommand.run(["report", $0, "--format", format]) }
            #expect(reports[0].withoutNextStep == reports[1].withoutNextStep && reports[1].status == 0)
        }
    }

    /// The recorder and the export write the same events in the same words.
    @Test("writes a timeline as the recorder does", arguments: SampleTraces.timelines)
    func form(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let timeline = try export(trace, to: "timeline")
        let lines = try [trace, timeline].map { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .filter { !$0.contains("\"ph\":\"M\"") }.map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
        }
        #expect(lines[0].count > 400 && lines[0] == lines[1])
    }

    @Test(
        "makes a timeline of a log and of an export of Instruments",
        .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: [
            "sqldebug-logs/level2-large-fetch.log", "sqldebug-logs/level3-count.log",
            "xctrace-export/core-data-fault.xml", "xctrace-export/core-data-fetch.xml",
        ])
    func log(file: String) throws {
        let log = try #require(SharedData.folder).appendingPathComponent(file).path
        let timeline = try export(log, to: "timeline")
        let reports = try [log, timeline].map { try BuiltCommand.run(["report", $0]) }
        #expect(
            reports[0].withoutNextStep == reports[1].withoutNextStep && reports[1].errors.isEmpty,
            "\(reports[1].errors)")
    }

    @Test("exports the selected events alone")
    func selection() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let timeline = try export(trace, to: "timeline", ["--kind", "batch,fetch", "--until", "1s"])
        let counts = try BuiltCommand.run([
            "query", timeline, "SELECT kind, count(*) FROM events GROUP BY 1", "--format", "csv",
        ])
        #expect(counts.output == "kind,count(*)\nbatch,2\nfetch,1\n")
        let folded = try export(trace, to: "folded", ["--weight", "rows", "--scope", "list"])
        let tree = try BuiltCommand.run(["tree", trace, "--weight", "rows", "--scope", "list", "--format", "folded"])
        #expect(try String(contentsOfFile: folded, encoding: .utf8) == tree.output && !tree.output.isEmpty)
    }

    @Test("writes nothing if no event is selected")
    func nothing() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let path = directory.path("none")
        let result = try BuiltCommand.run(["export", trace, "--to", "timeline", "-o", path, "--scope", "cart"])
        #expect(result.status == 2 && result.errors == "faultline: The trace has no event within a scope \"cart\".\n")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("overwrites nothing, and says so before it reads the trace", arguments: TraceExporters.all.map { $0.name })
    func existing(format: String) throws {
        let path = directory.path("mine")
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["export", "/no/trace", "--to", format, "-o", path])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: Cannot write \"\(path)\": it exists and is not an output of Faultline that nobody changed; "
                + "name another file with -o, or replace it with --force.\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test("rejects what is not a trace, and leaves no file", arguments: TraceExporters.all.map { $0.name })
    func noTrace(format: String) throws {
        let (text, path) = (directory.path("text.txt"), directory.path("out"))
        try "no trace\n".write(toFile: text, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["export", text, "--to", format, "-o", path])
        #expect(result.status == 2 && result.errors.hasPrefix("faultline: Could not read the trace \"\(text)\": "))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("removes an incomplete file if there is no room for the rest")
    func noRoom() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let path = directory.path("timeline.json")
        let command = "ulimit -f 8; exec \(BuiltCommand.faultline) export \(trace) --to timeline -o \(path)"
        let result = try BuiltCommand.run(["-c", command], program: "/bin/bash")
        #expect(result.status == 75 && !result.wasKilled)
        #expect(
            result.errors
                == "faultline: Cannot write the export to \"\(path)\" (File too large); check that the disk has "
                + "space, and that the folder exists and is writable.\n")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("makes a file that its owner alone can read, as a trace is")
    func permissions() throws {
        let path = try export(SampleTraces.trace("n-plus-one").path, to: "folded")
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test("refuses a device")
    func device() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let result = try BuiltCommand.run(["export", trace, "--to", "timeline", "-o", "/dev/full"])
        #expect(result.status == 2)
        let reason = "it is not a regular file; name another file with -o."
        #expect(result.errors == "faultline: Cannot write \"/dev/full\": \(reason)\n")
    }

    @Test("names the formats if it does not know one")
    func unknown() throws {
        let result = try BuiltCommand.run(["export", "t", "--to", "svg", "-o", "x"], directory: directory.url)
        let names = TraceExporters.all.map { "'\($0.name)'" }
        let list = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
        #expect(result.status == 2 && result.errors.contains("Please provide one of \(list)."), "\(result.errors)")
    }

    @Test("refuses a weight that a format does not have, and one that the trace does not have")
    func weights() throws {
        let output = try TemporaryDirectory().path("export")
        let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path
        let spans = try BuiltCommand.run(["export", trace, "--to", "otlp", "--weight", "rows", "-o", output])
        #expect(spans.status == 2)
        #expect(
            spans.errors.hasPrefix("Error: --weight is for the formats of call paths: speedscope, pprof, folded.\n"))
        for format in ["folded", "pprof", "speedscope"] {
            let samples = try BuiltCommand.run(["export", trace, "--to", format, "--weight", "cpu", "-o", output])
            #expect(samples.status == 2)
            #expect(
                samples.errors
                    == "faultline: The trace has nothing of the weight cpu to export; \"faultline tree\" prints the "
                    + "weights that it has.\n")
            #expect(!FileManager.default.fileExists(atPath: output))
        }
    }
}
