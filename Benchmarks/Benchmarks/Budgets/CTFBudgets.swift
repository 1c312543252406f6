import FaultlineReader
import FaultlineTrace
import Foundation

/// G20: the time to read an LTTng trace, compared with babeltrace2 merely decoding it.
///
/// Both run as separate programs, to start with nothing loaded.
struct CTFBudgets: BudgetGroup {
    static let numbers = ["G20"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        guard let trace = options.ctf else {
            table.note("G20 was not measured: it needs a trace of LTTng, --ctf TRACE")
            return
        }
        table.add(try CTFBudgets(trace: trace).reading().run(rounds: options.rounds))
    }

    /// A trace that `faultline record --to lttng` wrote.
    let trace: String

    func reading() throws -> Comparison {
        let arms = [
            Arm("babeltrace2 -o dummy") { try Child.time(["babeltrace2", "-o", "dummy", trace]) },
            Arm("reader") { try Child.time(ChildWork.command("read", trace)) },
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
