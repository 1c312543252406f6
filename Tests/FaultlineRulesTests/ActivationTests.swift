import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Loops are what one call of a function runs again")
struct ActivationTests {
    /// A Python program whose functions call one another: the first one of a stack is the outermost.
    private struct Program {
        var trace = TraceBuilder()
        private var frames: [String: FrameEntry] = [:]
        private var stacks: [[String]: DictionaryID] = [:]
        private let statement: DictionaryID
        private let writing: [(DictionaryID, TraceEvent.Statement.StatementType)]

        init() {
            statement = trace.define(.statement(StatementEntry(sql: "SELECT name FROM author WHERE id = ?")))
            let begin = trace.define(.statement(StatementEntry(sql: "BEGIN")))
            let insert = trace.define(.statement(StatementEntry(sql: "INSERT INTO visit(url) VALUES (?)")))
            let commit = trace.define(.statement(StatementEntry(sql: "COMMIT")))
            writing = [(begin, .transaction), (insert, .write), (commit, .transaction)]
        }

        private mutating func stack(_ functions: [String]) -> DictionaryID {
            if let known = stacks[functions] { return known }
            let addresses = functions.reversed().map { function in
                let words = function.split(separator: " ").map(String.init)
                if frames[function] == nil {
                    let frame = FrameEntry(
                        address: "0x80000000000000" + String(0x10 + frames.count, radix: 16), module: "Python",
                        locations: [.init(symbol: words[0], function: words[0], file: words.last ?? "", line: 7)])
                    frames[function] = frame
                    _ = trace.define(.frame(frame))
                }
                return frames[function]?.address ?? ""
            }
            let stack = trace.define(.stack(StackEntry(frames: addresses)))
            stacks[functions] = stack
            return stack
        }

        /// Runs a statement in calls of functions, of which `active` still are from the last run; the number is the innermost one's.
        mutating func run(_ functions: [String], active: Int, number: UInt32, pause: UInt64 = 1000) {
            var fields = TraceEvent.Statement()
            (fields.statement, fields.type, fields.rows) = (statement, .read, 1)
            (fields.activation, fields.level) = (number, UInt32(functions.count - active + 1))
            trace.event(.sql(fields), duration: 2000, stack: stack(functions))
            trace.now += pause
        }

        /// Writes a row in a transaction, in calls of functions of which `active` still are; their number is the innermost one's,
        /// and that of all functions together belongs to this call.
        mutating func write(_ functions: [String], active: Int, number: UInt32, own: UInt32) {
            for (position, (statement, type)) in writing.enumerated() {
                var fields = TraceEvent.Statement()
                (fields.statement, fields.type, fields.rows) = (statement, type, type == .write ? 1 : 0)
                (fields.activation, fields.level) =
                    position == 0 ? (number, UInt32(functions.count - active + 1)) : (own, 1)
                trace.event(.sql(fields), duration: 400_000, stack: stack(functions))
                trace.now += 1000
            }
        }

        /// The transactions and the loops that a report names.
        var transactions: [[UInt64]] {
            Profile(trace.closed()).smallTransactions.map { [$0.evidence.executions, $0.evidence.occurrences] }
        }

        /// The runs and the loops that a report names.
        var loops: [[UInt64]] {
            Profile(trace.closed()).statementLoops.map { [$0.evidence.executions, $0.evidence.occurrences] }
        }
    }

    private let view = ["<module> /shop/app.py", "view /shop/views.py", "author /shop/models.py"]

    @Test("Three calls of a function are three loops, without a pause between them and with long ones within")
    func calls() {
        var program = Program()
        for call in 1...3 {
            program.run(view, active: call == 1 ? 0 : 1, number: call == 1 ? 0 : 1)
            for _ in 1..<20 { program.run(view, active: 2, number: UInt32(10 * call), pause: 90_000_000) }
        }
        #expect(program.loops == [[60, 3]])
    }

    @Test("The tasks of an event loop take turns, and each has its loop")
    func turns() {
        var program = Program()
        for run in 0..<20 {
            for task: UInt32 in 1...2 {
                let call = run == 0 ? 0 : 10 * task
                program.run(view, active: run == 0 ? 0 : 2, number: task * Activation.calls + call)
            }
        }
        #expect(program.loops == [[40, 2]])
    }

    @Test("The transactions of a function that a loop calls are one loop")
    func transactions() {
        var program = Program()
        for call in 1...30 {
            program.write(view, active: call == 1 ? 0 : 2, number: call == 1 ? 0 : 1, own: UInt32(10 * call))
        }
        #expect(program.transactions == [[30, 1]])
    }

    @Test("What each step of a loop runs twice is one loop")
    func twice() {
        var program = Program()
        for step in 1...10 {
            program.run(view, active: step == 1 ? 0 : 1, number: step == 1 ? 0 : 1)
            program.run(view, active: 2, number: UInt32(10 * step))
        }
        #expect(program.loops == [[20, 1]])
    }

    @Test(
        "The calls of servers and test runners are no loops",
        arguments: [
            ["serve_forever /usr/lib/python3.11/socketserver.py", "view /shop/views.py"],
            ["TestSuite.run /usr/lib/python3.11/unittest/suite.py", "view /shop/views.py"],
        ])
    func requests(functions: [String]) {
        var program = Program()
        for request in 0..<30 { program.run(functions, active: request == 0 ? 0 : 1, number: request == 0 ? 0 : 1) }
        #expect(program.loops.isEmpty)
        for request in 0..<3 {
            program.run(functions, active: 1, number: 1)
            for _ in 1..<10 { program.run(functions, active: functions.count, number: UInt32(100 + request)) }
        }
        #expect(program.loops == [[30, 3]])
    }

    @Test("Where tasks take turns, a pause still ends a loop")
    func tasks() {
        var program = Program()
        let stack = ["BaseEventLoop._run_once /usr/lib/python3.11/asyncio/base_events.py", "load /shop/load.py"]
        for _ in 0..<2 {
            for run in 0..<10 { program.run(stack, active: 1, number: 1, pause: run == 9 ? 90_000_000 : 1000) }
        }
        #expect(program.loops == [[20, 2]])
    }
}
