import Foundation
import Testing

/// Commands whose processes start and end, replace one another, or cannot be recorded.
@Suite("With many processes, the trace")
struct ManyProcessesTests {
    let directory: TemporaryDirectory
    let trace: String

    init() throws {
        directory = try TemporaryDirectory()
        trace = directory.path("trace.json")
    }

    private func record(_ command: [String]) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["record", "-o", trace, "--"] + command)
    }

    /// Counts the fetches of each process in the trace.
    private func fetches() throws -> [Int: Int] {
        try UnrulyProgram.lines(trace).filter { $0["cat"] as? String == "fetch" }
            .reduce(into: [:]) { $0[$1["pid"] as? Int ?? 0, default: 0] += 1 }
    }

    @Test("distinguishes two programs that ran one after the other in one process")
    func becomesAnother() throws {
        let result = try record([UnrulyProgram.path, "becomes-another"])
        #expect(result.status == 0 && result.output == "done\n")
        let numbers = try UnrulyProgram.arguments(trace, "faultline.began").compactMap { $0["process"] as? Int }
        try #require(numbers.count == 2)
        #expect(numbers[1] == numbers[0] + 1 << 22)
        #expect(try fetches() == [numbers[0]: 3, numbers[1]: 4])
        let ended = try UnrulyProgram.arguments(trace, "faultline.ended")
        #expect(ended.map { $0["process"] as? Int } == numbers)
        #expect(ended.map { $0["isClosed"] as? Bool } == [false, true])
        #expect(try RecordedEvents(of: trace).of("fetch").count == 7)
    }

    @Test("has the end of each process, and the command keeps no resources of it")
    func startsMany() throws {
        let result = try record([UnrulyProgram.path, "starts-many", "60"])
        #expect(result.status == 0)
        let most = try #require(result.output.split(separator: " ").last.flatMap { Int($0.dropLast()) })
        #expect(most < 30)
        #expect(try fetches().count == 60)
        let ends = try UnrulyProgram.arguments(trace, "faultline.ended").compactMap { $0["end"] as? UInt64 }
        #expect(ends.count == 61 && Set(ends).count == 61)
    }

    @Test("lacks processes that find no space, and a message counts them")
    func refused() throws {
        let limited = "ulimit -f 1; \(UnrulyProgram.path) records 5; \(UnrulyProgram.path) records 5"
        let result = try record(["/bin/sh", "-c", "(\(limited)); \(UnrulyProgram.path) records 3"])
        #expect(result.output == "done\ndone\ndone\n" && result.status == 0)
        #expect(
            result.errors.hasPrefix(
                "faultline: 2 processes could not be recorded: cannot create buffers in \"/dev/shm\" (File too large); raise the "
                    + "limit of the size of files (ulimit -f).\n"))
        #expect(try fetches().map(\.value) == [3])
    }

    @Test("can be completed from a killed program that its parent has not waited for")
    func zombie() throws {
        let parent = try RunningCommand(
            "/bin/sh", ["-c", "\(UnrulyProgram.path) is-killed 6 & exec sleep 600"],
            environment: ["FAULTLINE_TRACE": "timeline:\(trace)"])
        var process: String?
        while process == nil {
            // The first line contains the process ID as soon as it is written.
            let text = (try? String(contentsOfFile: trace, encoding: .utf8)) ?? ""
            process = text.firstMatch(of: /"process":([0-9]+),/).map { String($0.1) }
        }
        let state = "/proc/\(try #require(process))/stat"
        while try !String(contentsOfFile: state, encoding: .utf8).contains(") Z ") { sched_yield() }
        let report = try BuiltCommand.run(["report", trace])
        kill(parent.identifier, SIGTERM)
        #expect(parent.finish().wasKilled)
        #expect(report.errors.contains("the program ended before the trace was complete; the last "))
        #expect(try UnrulyProgram.fetches(trace) == 6)
    }

    @Test("can be read whatever bytes the program's path contains")
    func invalidPath() throws {
        let script =
            "program=\"$(printf '\(directory.url.path)/p\\377\\303')\"; cp \(UnrulyProgram.path) \"$program\"; "
            + "\"$program\" records 2"
        let result = try record(["/bin/sh", "-c", script])
        #expect(result.output == "done\n")
        let programs = try UnrulyProgram.arguments(trace, "faultline.began").compactMap { $0["program"] as? String }
        #expect(programs.map { $0.hasSuffix("/p\u{FFFD}\u{FFFD}") } == [true])
        #expect(try fetches().map(\.value) == [2])
    }
}
