import CRecorderPeer
import FaultlineReader
import FaultlineRecorder
import FaultlineTrace
import Foundation
import RecorderLoops

#if Peers
import Tracing
#endif

/// G3, G4, G5 and G8: single events in a timeline.
struct EventBudgets: BudgetGroup {
    static let numbers = ["G3", "G4", "G5", "G8"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = EventBudgets(folder: try ScratchFolder())
        if options.wants("G3") { table.add(try budgets.event().run(rounds: options.rounds)) }
        if options.wants("G4") { table.add(try budgets.line().run(rounds: options.rounds)) }
        if options.wants("G5") { table.add(try budgets.stack().run(rounds: options.rounds)) }
        if options.wants("G8") { try budgets.bursts(into: &table) }
    }

    private let folder: ScratchFolder
    /// The number of events of a round.
    ///
    /// They fit into a ring, so none is lost if the writing thread sleeps.
    private static let count = 4000

    private func recorder() throws -> Recorder {
        try Recorder.writing(to: .timeline(path: folder.path("\(UUID().uuidString).json")))
    }

    /// Waits until the writing thread has emptied the rings.
    ///
    /// The wait is not measured.
    private static func drain() { usleep(5000) }

    /// An event without a stack, on its own thread.
    private func event() throws -> Comparison {
        let loops = RecorderLoops(try recorder())
        var arms: [Arm] = []
        var budgets: [Budget] = []
        #if Peers
        arms.append(
            Arm("withSpan, no tracer") {
                cpuTime { for _ in 0..<Self.count { withSpan("Wait") { blackHole($0.isRecording) } } }
            })
        budgets.append(Budget("G3", "event", against: "withSpan, no tracer", atMost: 0.15))
        #endif
        arms.append(
            Arm("event") {
                defer { Self.drain() }
                return cpuTime { loops.events(Self.count, hasStack: false) }
            })
        // Without these, an event has no duration.
        arms.append(
            Arm("two readings of the clock") {
                cpuTime { for _ in 0..<2 * Self.count { Self.readClock() } }
            })
        return Comparison(name: "one event in a timeline", operations: Self.count, arms: arms, budgets: budgets)
    }

    private static func readClock() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        blackHole(time.tv_nsec)
    }

    /// An event with the thread that writes its line.
    private func line() throws -> Comparison {
        let rounds = 10
        try checkLine()
        return Comparison(
            name: "one line of a timeline", operations: rounds * Self.count,
            arms: [
                Arm("snprintf") { cpuTime { blackHole(recorder_peer_format(Int64(rounds * Self.count))) } },
                Arm("event, with the writing thread") {
                    let recorder = try recorder()
                    let loops = RecorderLoops(recorder)
                    // The thread's ring is no part of the events.
                    loops.events(1, hasStack: false)
                    let start = processTime()
                    for _ in 0..<rounds {
                        loops.events(Self.count, hasStack: false)
                        Self.drain()
                    }
                    recorder.close()
                    return processTime() - start
                },
            ],
            budgets: [Budget("G4", "event, with the writing thread", against: "snprintf", atMost: 0.5)])
    }

    /// Checks that `snprintf` formats the line that the recorder writes, but for the values of its numbers.
    private func checkLine() throws {
        let path = folder.path("line.json")
        let recorder = try Recorder.writing(to: .timeline(path: path))
        RecorderLoops(recorder).events(2, hasStack: false)
        recorder.close()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        var formatted = [CChar](repeating: 0, count: 512)
        let length = recorder_peer_line(&formatted, formatted.count, 1)
        let expected = String(decoding: formatted.prefix(length - 1).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let written = lines.last(where: { $0.contains("\"tries\"") }),
            Self.shape(written) == Self.shape(expected)
        else { throw BudgetError("G4 does not format what the recorder writes: \(lines.suffix(2)), not \(expected)") }
    }

    /// A line with one digit for each number, and without the comma at its end.
    private static func shape(_ line: some StringProtocol) -> String {
        String(line).replacingOccurrences(of: "[0-9]+", with: "0", options: .regularExpression).trimmingCharacters(in: [
            ","
        ])
    }

    /// The stack of an event, on its own thread: the difference between an event with a stack and one without.
    private func stack() throws -> Comparison {
        let loops = RecorderLoops(try recorder())
        let present = Int(recorder_peer_stacks(1))
        let missing = max(0, Self.frames - present)
        func deep(_ work: () -> Void) -> Double { Self.descend(missing) { cpuTime(work) } }
        let depth = Self.descend(missing) { Int(recorder_peer_stacks(1)) }
        return Comparison(
            name: "a stack of \(depth) frames", operations: Self.count,
            arms: [
                Arm("backtrace()") { deep { blackHole(recorder_peer_stacks(Int64(Self.count))) } },
                Arm("stack") {
                    let without = deep { loops.events(Self.count, hasStack: false) }
                    Self.drain()
                    let with = deep { loops.events(Self.count, hasStack: true) }
                    Self.drain()
                    return with - without
                },
            ],
            budgets: [Budget("G5", "stack", against: "backtrace()", atMost: 1.0 / 20)])
    }

    private static let frames = 16

    /// Does work a number of calls deeper.
    @inline(never)
    private static func descend<Result>(_ calls: Int, _ work: () -> Result) -> Result {
        guard calls > 0 else { return work() }
        let result = descend(calls - 1, work)
        // Keeps the call from becoming a jump.
        blackHole(calls)
        return result
    }

    /// Bursts of a million events a second.
    private func bursts(into table: inout BudgetTable) throws {
        let (bursts, length) = (20, 50_000)
        let path = folder.path("bursts.json")
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let loops = RecorderLoops(recorder)
        for _ in 0..<bursts {
            let start = ContinuousClock.now
            for part in 1...length / 50 {
                loops.events(50, hasStack: true)
                while start.duration(to: .now) < .microseconds(50 * part) {}
            }
            usleep(50_000)
        }
        recorder.close()
        var (written, lost) = (0, 0)
        try TraceReader(path: path).read { message in
            switch message {
            case .event: written += 1
            case .ended(let end): lost += Int(end.lost + end.unwritten)
            default: break
            }
        }
        let emitted = bursts * length
        table.add("G8", "a million events/s in bursts: lost", count: lost, atMost: 0, of: "of \(emitted)")
        table.add(
            "G8", "a million events/s in bursts: neither written nor counted as lost",
            count: abs(emitted - written - lost), atMost: 0, of: "of \(emitted)")
    }
}
