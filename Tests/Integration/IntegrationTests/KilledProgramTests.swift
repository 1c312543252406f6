import Foundation
import Testing

/// A program that is killed loses no completed event.
@Suite("A program killed with SIGKILL", .timeLimit(.minutes(10)))
struct KilledProgramTests {
    private struct Event: Decodable {
        var kind: String
    }

    /// Runs the list repeatedly until it is killed, printing a line per round.
    private func run(trace: String, store: String) throws -> RunningCommand {
        try RunningCommand(
            BuiltCommand.faultline,
            [
                "workload", "groceries", "--store", store, "--items", "60", "--rows", "6", "--flaws", "location",
                "--repeat",
            ],
            environment: ["FAULTLINE_TRACE": "timeline:\(trace)"])
    }

    @Test("at a random time leaves every completed fetch in the recovered trace", arguments: 0..<20)
    func recovers(attempt: Int) throws {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("list.sqlite"), directory.path("trace.json"))
        let prepared = try BuiltCommand.run(
            [
                "workload", "groceries", "--store", store, "--items", "60", "--rows", "6", "--flaws", "location",
                "--prepare",
            ])
        try #require(prepared.status == 0)
        let running = try run(trace: trace, store: store)
        // The time is a number of rounds, so it differs between attempts whatever the machine's speed.
        let rounds = 1 + attempt * 3 + Int.random(in: 0..<3)
        while running.output.split(separator: "\n").count < rounds { sched_yield() }
        kill(running.identifier, SIGKILL)
        let ended = running.finish()
        #expect(ended.wasKilled)
        // A line is printed after its fetch completed; the fetch of an incomplete line may not have completed.
        let completed = ended.output.filter(\.isNewline).count
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        let written = text.split(separator: "\n").count { $0.contains(#""cat":"fetch""#) }
        let report = try BuiltCommand.run(["report", trace])
        #expect(report.status == 0)
        let events = try BuiltCommand.run(["events", trace, "--kind", "fetch", "--format", "json"])
        let fetches = events.output.split(separator: "\n").count
        // One more fetch can have completed before its line was printed.
        #expect(fetches == completed || fetches == completed + 1, "\(completed) rounds were printed")
        // On a busy machine, all events may have been written before the kill.
        #expect(
            report.errors.contains("the program ended before the trace was complete; the last ") || written == fetches)
        let again = try BuiltCommand.run(["report", trace])
        #expect(again.output == report.output)
        #expect(again.errors.isEmpty)
    }

    @Test("under record is reported, with every completed event")
    func underRecord() throws {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("list.sqlite"), directory.path("trace.json"))
        let form = ["workload", "groceries", "--store", store, "--items", "60", "--rows", "6"]
        try #require(try BuiltCommand.run(form + ["--prepare"]).status == 0)
        let script = "\(BuiltCommand.faultline) \(form.joined(separator: " ")) --repeat | head -5; exit 9"
        let result = try BuiltCommand.run(["record", "-o", trace, "--", "/bin/sh", "-c", script])
        #expect(result.status == 9)
        let completed = result.output.filter(\.isNewline).count
        #expect(completed == 5)
        let events = try BuiltCommand.run(["events", trace, "--kind", "fetch", "--format", "json"])
        #expect(events.output.split(separator: "\n").count >= completed)
    }
}
