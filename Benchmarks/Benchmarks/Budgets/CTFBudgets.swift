import FaultlineReader
import FaultlineTrace
import Foundation

/// G20: the time to read an LTTng trace, compared with babeltrace2 merely decoding it.
///
/// Both run as separate programs, to start with nothing loaded.
struct CTFBudgets {
    /// A trace that `faultline record --to lttng` wrote.
    let trace: String

    func reading() throws -> Comparison {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arms = [
            Arm("babeltrace2 -o dummy") { try childTime(["babeltrace2", "-o", "dummy", trace]) },
            Arm("reader") { try childTime([own, "--read", trace]) },
        ]
        return Comparison(
            name: "read a CTF trace", operations: try Self.read(trace), arms: arms,
            budgets: [Budget("G20", "reader", against: "babeltrace2 -o dummy", atMost: 1.2)])
    }

    /// Reads a trace and returns its number of messages.
    static func read(_ trace: String) throws -> Int {
        var count = 0
        try TraceReader(path: trace).read { _ in count += 1 }
        return count
    }
}
