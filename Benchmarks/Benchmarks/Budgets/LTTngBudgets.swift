import FaultlineRecorder
import Foundation
import RecorderLoops

/// G7: an event to LTTng, compared with the same tracepoint in C.
///
/// Measured in a process of its own, with a session daemon that only it sees. The session is a flight recorder, so that no
/// other process needs the second core.
struct LTTngBudgets: BudgetGroup {
    static let numbers = ["G7"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let folder = try ScratchFolder()
        let command = try ChildWork.command("lttng", "\(options.rounds)").map { "'\($0)'" }.joined(separator: " ")
        let steps = [
            "mount -t tmpfs tmpfs /run", "mkdir /run/lttng", "mount -t tmpfs tmpfs /dev/shm",
            "lttng-sessiond --daemonize --no-kernel", "lttng --quiet create budgets --snapshot",
            "lttng --quiet enable-channel --userspace --overwrite --subbuf-size=1M --num-subbuf=4 events",
            "lttng --quiet enable-event --userspace --channel=events 'faultline:*'", "lttng --quiet start",
            "{ \(command); }",
        ]
        let unshare =
            ["unshare"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--mount", "--pid", "--fork", "--mount-proc"]
        let output = try Child.run(
            unshare + ["sh", "-c", steps.joined(separator: " && ")],
            environment: ["LTTNG_HOME": folder.path(""), "LTTNG_UST_REGISTER_TIMEOUT": "-1"])
        table.add(try JSONDecoder().decode(BudgetTable.self, from: Data(output.utf8)))
    }

    /// Measures in the session of the parent, and prints the table as JSON.
    static func measureInSession(rounds: Int) throws {
        let count = 20_000
        guard RecorderLoops.tracepoints(100) == 100 else {
            throw BudgetError("G7: LTTng's session does not take the tracepoints.")
        }
        let loops = RecorderLoops(try Recorder.writing(to: .lttng))
        var table = BudgetTable()
        let comparison = Comparison(
            name: "one event to LTTng", operations: count,
            arms: [
                Arm("tracepoint in C") { cpuTime { blackHole(RecorderLoops.tracepoints(count)) } },
                Arm("event") { cpuTime { loops.events(count, hasStack: false) } },
                Arm("event with its stack") { cpuTime { loops.events(count, hasStack: true) } },
            ],
            budgets: [Budget("G7", "event", against: "tracepoint in C", atMost: 1.1)])
        table.add(try comparison.run(rounds: rounds))
        print(String(decoding: try JSONEncoder().encode(table), as: UTF8.self))
    }
}
