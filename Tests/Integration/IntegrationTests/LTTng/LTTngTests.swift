import Foundation
import Testing

@Suite("LTTng", .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need))
struct LTTngTests {
    let directory: TemporaryDirectory
    /// The command that runs the workload on a shopping list.
    private let workload: String

    init() throws {
        directory = try TemporaryDirectory()
        let form = "workload groceries --store \(directory.path("list.sqlite")) --items 120 --flaws all"
        let prepared = try BuiltCommand.run(form.split(separator: " ").map(String.init) + ["--prepare"])
        try #require(prepared.status == 0, "\(prepared.errors)")
        workload = "$FAULTLINE \(form)"
    }

    private func run(_ script: String) throws -> BuiltCommand.Result {
        try LTTngSandbox.run(script, directory: directory)
    }

    /// Returns the JSON report, without the cost of writing a timeline, which a CTF trace does not contain.
    private func report(_ trace: String) throws -> String {
        let printed = try BuiltCommand.run(["report", trace, "--format", "json"])
        try #require(printed.status == 0, "\(printed.errors)")
        var report = try #require(try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
        for key in ["processes", "programs"] {
            report[key] = (report[key] as? [[String: Any]])?.map { process in process.filter { $0.key != "writing" } }
        }
        var quality = try #require(report["quality"] as? [String: Any])
        let evidence = try #require(quality["evidence"] as? [[String: Any]])
        quality["evidence"] = evidence.filter { $0["name"] as? String != "writing" }
        report["quality"] = quality
        let data = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys, .prettyPrinted])
        return String(decoding: data, as: UTF8.self)
    }

    @Test(
        "A run recorded to both destinations gives equal reports", arguments: ["groceries", "library", "loop"])
    func bothAtOnce(program: String) throws {
        let music = "'\(BuiltCommand.programs.appendingPathComponent("MusicProgram").path)' music.sqlite"
        let command =
            switch program {
            case "groceries": workload
            case "loop": "\(music) naive loop"
            default: "'\(OutsideProgram.path)' library.sqlite"
            }
        let result = try run(
            """
            \(music) prepare
            start_daemon
            record both "$PWD/ctf"
            FAULTLINE_TRACE=timeline:trace.json,lttng \(command)
            finish both
            """)
        try #require(result.status == 0, "\(result.errors)")
        let (timeline, ctf) = (try report(directory.path("trace.json")), try report(directory.path("ctf")))
        #expect(timeline == ctf)
        #expect(ctf.contains("\"lost\" : 0"))
        // The events agree too.
        let events = try [directory.path("trace.json"), directory.path("ctf")].map { trace in
            try BuiltCommand.run([
                "events", trace, "--stack", "--kind",
                "fetch,fault,save,sql,use,scope,batch,cacheMiss,merge,refresh,wait",
            ])
            .output.split(separator: "\n").sorted()
        }
        #expect(events[0] == events[1] && events[0].count > 100)
    }

    @Test("babeltrace2 itself prints the trace")
    func printing() throws {
        let result = try run(
            """
            start_daemon
            record one "$PWD/ctf"
            FAULTLINE_TRACE=lttng \(workload) >/dev/null
            finish one
            babeltrace2 ctf
            """)
        try #require(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        let fetches = lines.filter { $0.contains(" faultline:fetch: ") }
        #expect(fetches.count == 1)
        #expect(fetches[0].contains("batchSize = 50, resultType = ( \"objects\" : container = 0 ), rows = 120"))
        let events = try RecordedEvents(of: directory.path("ctf"))
        let kinds = Dictionary(grouping: events.all.filter { $0.kind != "process" }, by: \.kind).mapValues(\.count)
        for (kind, count) in kinds {
            #expect(lines.count { $0.contains(" faultline:\(kind): ") } == count)
        }
        #expect(lines.contains { $0.contains(" faultline_dictionary:entry: ") && $0.contains("kind = \"shape\"") })
    }

    @Test("A session that starts late has every name")
    func lateSession() throws {
        let result = try run(
            """
            start_daemon
            FAULTLINE_TRACE=lttng \(workload) --repeat >output &
            await output 3
            record late "$PWD/ctf"
            await output $(($(wc --lines <output) + 3))
            finish late
            """)
        try #require(result.status == 0, "\(result.errors)")
        try checkNames("ctf")
    }

    @Test("A snapshot has every name, although the buffers were overwritten many times")
    func snapshot() throws {
        let result = try run(
            """
            start_daemon
            lttng --quiet --no-sessiond create flight --snapshot --output="$PWD/ctf"
            lttng --quiet enable-channel --userspace --session=flight --subbuf-size=16k --num-subbuf=2 events
            lttng --quiet enable-channel --userspace --session=flight --subbuf-size=1M --num-subbuf=2 dictionary
            lttng --quiet enable-event --userspace --session=flight --channel=events 'faultline:*'
            lttng --quiet enable-event --userspace --session=flight --channel=dictionary 'faultline_dictionary:*,faultline_statedump:*'
            lttng --quiet start flight
            FAULTLINE_TRACE=lttng \(workload) --repeat >output &
            await output 10
            lttng --quiet regenerate statedump --session=flight
            lttng --quiet snapshot record --session=flight
            lttng --quiet destroy flight
            """)
        try #require(result.status == 0, "\(result.errors)")
        // The program overwrites the buffers while they are read, so only one event may be left on a busy machine.
        try checkNames("ctf", events: 0)
        // The snapshot contains only the last events.
        let output = try String(contentsOfFile: directory.path("output"), encoding: .utf8)
        let events = try RecordedEvents(of: directory.path("ctf"))
        #expect(events.of("use").count < output.split(separator: "\n").count)
    }

    /// Checks that every event has the names of everything that it refers to.
    ///
    /// - Parameter minimum: The minimum number of events.
    private func checkNames(_ trace: String, events minimum: Int = 100) throws {
        let events = try RecordedEvents(of: directory.path(trace))
        #expect(events.timed.count > minimum)
        #expect(events.of("process").map(\.phase) == ["began"])
        for event in events.all {
            switch event.kind {
            case "fetch", "batch": #expect(event.entityName == "Item" && event.shapeName != nil)
            case "fault", "cacheMiss": #expect(event.entityName != nil)
            case "sql": #expect(event.sql != nil)
            case "scope": #expect(event.scopeName != nil)
            default: break
            }
            if event.kind == "fault" || event.kind == "fetch" {
                #expect(event.callSite?.text.hasPrefix("Groceries.swift:") == true)
            }
        }
    }

    @Test("Events for which LTTng has no space are counted")
    func losses() throws {
        let unruly = BuiltCommand.programs.appendingPathComponent("UnrulyProgram").path
        let result = try run(
            """
            start_daemon
            record small "$PWD/ctf" --subbuf-size=4k --num-subbuf=2
            FAULTLINE_TRACE=lttng '\(unruly)' records 50000
            finish small
            """)
        try #require(result.status == 0, "\(result.errors)")
        let report = try ReportDocument(of: directory.path("ctf"))
        let events = try RecordedEvents(of: directory.path("ctf"))
        let lost = events.of("lost").sum(\.events)
        #expect(lost > 0 && report.lost == lost)
        // Every event that the program handed over either arrived or is counted.
        let written = events.of("process").first { $0.phase == "ended" }?.events ?? 0
        #expect(written == 50_000)
        #expect(UInt64(events.of("fetch").count) + lost == written)
        let text = try BuiltCommand.run(["report", directory.path("ctf")]).output
        #expect(text.contains("lost because the buffers were full"))
    }

    @Test("Without a daemon or a session, a program runs as usual")
    func nobodyListens() throws {
        let alone = try BuiltCommand.run(
            ["-c", "\(workload)"], program: "/bin/sh", environment: ["FAULTLINE": BuiltCommand.faultline])
        let result = try run(
            """
            FAULTLINE_TRACE=lttng \(workload)
            start_daemon
            FAULTLINE_TRACE=lttng \(workload)
            """)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output == alone.output + alone.output)
    }
}
