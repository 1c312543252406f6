import Foundation
import Testing

/// A program whose recording must not affect anything that it does.
enum UnrulyProgram {
    static let path = BuiltCommand.programs.appendingPathComponent("UnrulyProgram").path

    /// Whether programs can be scheduled so that one thread runs until it waits.
    static let mayRunFirst =
        (try? BuiltCommand.run(["-f", "50", "true"], program: "/usr/bin/chrt").status) == 0

    /// Runs the program with a trace that it writes itself.
    static func run(
        _ arguments: [String], trace: String, environment: [String: String] = [:], directory: URL? = nil
    ) throws -> BuiltCommand.Result {
        try BuiltCommand.run(
            arguments, program: path,
            environment: environment.merging(["FAULTLINE_TRACE": "timeline:\(trace)"]) { $1 }, directory: directory)
    }

    /// Returns the lines of a trace, which must be JSON from its first byte to its last.
    static func lines(_ trace: String) throws -> [[String: Any]] {
        let lines = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: trace)))
        return try #require(lines as? [[String: Any]])
    }

    static func fetches(_ trace: String) throws -> Int {
        try lines(trace).count { $0["cat"] as? String == "fetch" }
    }

    /// Returns the arguments of the lines of one kind.
    static func arguments(_ trace: String, _ name: String) throws -> [[String: Any]] {
        try lines(trace).filter { $0["name"] as? String == name }.compactMap { $0["args"] as? [String: Any] }
    }

    /// Returns the rings in shared memory that a trace's processes named.
    static func ringsLeft(_ trace: String) throws -> [String] {
        try arguments(trace, "faultline.began").compactMap { $0["rings"] as? String }
            .filter { FileManager.default.fileExists(atPath: $0) }
    }
}

@Suite("Recording")
struct HarmlessRecordingTests {
    let directory: TemporaryDirectory
    let trace: String

    init() throws {
        directory = try TemporaryDirectory()
        trace = directory.path("trace.json")
    }

    private func shell(_ script: String) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["-c", script], program: "/bin/sh", directory: directory.url)
    }

    @Test("continues in a program that closes its descriptors, and never writes into the program's files")
    func closedDescriptors() throws {
        let files = directory.path("files")
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
        let result = try UnrulyProgram.run(
            ["closes-descriptors", files], trace: "trace.json", directory: directory.url)
        #expect(result.status == 0 && !result.wasKilled && result.errors.isEmpty)
        // The writer may have taken one number again meanwhile, but never one from the program.
        #expect(["descriptors 3 to 602\n", "descriptors 3 to 603\n"].contains(result.output))
        for number in 0..<600 {
            #expect(try String(contentsOfFile: "\(files)/mine-\(number)", encoding: .utf8) == "mine \(number)\n")
        }
        #expect(try UnrulyProgram.fetches(trace) == 60)
        #expect(try UnrulyProgram.ringsLeft(trace).isEmpty)
    }

    @Test("uses none of the first three descriptors", arguments: ["0<&-", "2>&-", "0<&- 1>&- 2>&-"])
    func firstDescriptors(closed: String) throws {
        let shown = directory.path("shown")
        _ = try shell("FAULTLINE_TRACE=timeline:\(trace) \(UnrulyProgram.path) shows-descriptors \(shown) \(closed)")
        let open = ["0", "1", "2"].filter { !closed.contains("\($0)>&-") && !closed.contains("\($0)<&-") }
        #expect(try String(contentsOfFile: shown, encoding: .utf8) == open.joined(separator: " "))
        #expect(try UnrulyProgram.fetches(trace) == 2)
    }

    @Test("treats a file size limit as a full disk", arguments: [1, 100, 1000])
    func fileSizeLimit(blocks: Int) throws {
        let limited = "(ulimit -f \(blocks); FAULTLINE_TRACE=timeline:\(trace) \(UnrulyProgram.path) records 20000)"
        let result = try shell(limited)
        #expect(result.output == "done\n" && result.status == 0 && !result.wasKilled)
        if result.errors.isEmpty {
            // There was space for the trace, but not for a ring.
            let ended = try #require(try UnrulyProgram.arguments(trace, "faultline.ended").first)
            #expect(ended["lost"] as? Int == 1 && ended["events"] as? Int == 0)
        } else {
            #expect(result.errors.contains("(File too large)"))
        }
        let recorded = try shell(
            "ulimit -f \(blocks); \(BuiltCommand.faultline) record --quiet -o \(trace) -- "
                + "\(UnrulyProgram.path) records 20000")
        #expect(!recorded.wasKilled && recorded.status < 128)
        #expect(recorded.output == "done\n" || recorded.errors.contains("(File too large)"))
        // A limit that leaves space for the output but not for symbols costs the names, not the report.
        let whole = try shell("\(BuiltCommand.faultline) record --quiet -o \(trace) -- \(UnrulyProgram.path) records 3")
        #expect(whole.status == 0)
        let reported = try shell("ulimit -f 12; \(BuiltCommand.faultline) report \(trace)")
        #expect(reported.status == 0 && reported.output.contains("Checked"))
        #expect(reported.errors.contains("Could not add symbols to the trace \"\(trace)\": File too large"))
    }

    @Test(
        "reports errors if standard error works, and stops no program if not",
        arguments: ["2>&-", "2>/dev/full", "2>&1 >/dev/null | true"])
    func deafErrors(redirection: String) throws {
        let status = directory.path("status")
        // The shell's own pipe is gone before the program writes.
        let program = "{ \(UnrulyProgram.path) records 1; echo $? >\(status); }"
        _ = try shell("FAULTLINE_TRACE=timeline:/nowhere/trace.json; export FAULTLINE_TRACE; \(program) \(redirection)")
        while !FileManager.default.fileExists(atPath: status) { sched_yield() }
        #expect(try String(contentsOfFile: status, encoding: .utf8) == "0\n")
    }

    @Test("leaves the program's own signals pending")
    func ownSignals() throws {
        let result = try UnrulyProgram.run(["blocks-signals"], trace: trace)
        #expect(result.output == "still pending\n")
        #expect(result.errors == "a sentence\n")
    }

    @Test(
        "uses rings of a sensible size, whatever size is requested",
        arguments: ["0", "1", "10000000000000", "\(UInt64.max)"])
    func ringSizes(bytes: String) throws {
        let result = try UnrulyProgram.run(
            ["records", "10"], trace: trace, environment: ["FAULTLINE_RING_BYTES": bytes])
        #expect(result.output == "done\n" && result.status == 0)
        #expect(try UnrulyProgram.fetches(trace) == 10)
    }

    @Test("excludes forked children, which may end as they like")
    func forkedChild() throws {
        let result = try UnrulyProgram.run(["forks"], trace: trace)
        #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty)
        let lines = try UnrulyProgram.lines(trace)
        #expect(lines.count { $0["cat"] as? String == "fetch" } == 11)
        #expect(lines.filter { $0["name"] as? String == "faultline.ended" }.count == 1)
        #expect(lines.last?["name"] as? String == "faultline.ended")
        let names = try UnrulyProgram.arguments(trace, "faultline.name").compactMap { $0["entry"] as? [String: Any] }
        #expect(names.map { $0["name"] as? String } == ["the parent's"])
        let uses = lines.filter { $0["cat"] as? String == "use" }.compactMap { $0["args"] as? [String: Any] }
        #expect(uses.map { $0["touches"] as? Int } == [2])
        #expect(try UnrulyProgram.ringsLeft(trace).isEmpty)
    }

    @Test("of a killed program can be completed while its child is alive")
    func killedParent() throws {
        let end = directory.path("end")
        let result = try UnrulyProgram.run(["leaves-a-child", end], trace: trace)
        #expect(result.wasKilled && result.status == SIGKILL)
        let child = try #require(pid_t(result.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(child, 0) == 0)
        let report = try BuiltCommand.run(["report", trace])
        try Data().write(to: URL(fileURLWithPath: end))
        #expect(report.errors.contains("the program ended before the trace was complete; the last "))
        #expect(try UnrulyProgram.fetches(trace) == 7)
    }
}
