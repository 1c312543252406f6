import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile

@Suite("A call tree")
struct CallTreeTests {
    private func tree(
        of trace: TraceBuilder, _ weight: CallTreeWeight = .cpu, _ direction: CallTree.Direction = .topDown,
        hiding: Bool = false, group: String? = nil
    ) -> CallTree {
        var builder = CallTreeBuilder(weight, direction, hidingLibraries: hiding)
        var paths = CallPaths(dictionary: trace.dictionary)
        for case .event(let event) in trace.messages {
            builder.add(event, path: paths.functions(of: event), group: group)
        }
        return builder.finish()
    }

    /// Each node as `depth name total self`.
    private func lines(_ nodes: [CallTree.Node], depth: Int = 0) -> [String] {
        nodes.flatMap { node in
            ["\(depth) \(node.function.name) \(node.total) \(node.own)"] + lines(node.children, depth: depth + 1)
        }
    }

    private var samples: TraceBuilder {
        var trace = TraceBuilder()
        trace.sample(["system memcpy", "inner", "outer", "main", "system __libc_start_main"], weight: 4)
        trace.sample(["inner", "outer", "main", "system __libc_start_main"], weight: 3)
        trace.sample(["inner", "other", "main"], weight: 2)
        trace.sample([], weight: 1)
        return trace
    }

    @Test func `leads from the outermost function to those that ran`() {
        let tree = tree(of: samples)
        #expect(
            lines(tree.roots) == [
                "0 main 9 0", "1 outer 7 0", "2 inner 7 3", "3 memcpy 4 4", "1 other 2 0", "2 inner 2 2",
            ])
        #expect(tree.total == 10 && tree.events == 4 && tree.unknown == 1)
    }

    @Test func `leads, bottom-up, from the functions that ran to their callers`() {
        #expect(
            lines(tree(of: samples, .cpu, .bottomUp).roots) == [
                "0 inner 5 5", "1 outer 3 0", "2 main 3 0", "1 other 2 0", "2 main 2 0",
                "0 memcpy 4 4", "1 inner 4 0", "2 outer 4 0", "3 main 4 0",
            ])
    }

    /// Trees are printed by recursion, and a damaged trace with a stack of 60,000 frames overflowed the program's own.
    @Test func `has the innermost functions of a stack without end`() {
        var trace = TraceBuilder()
        trace.sample((0..<5000).map { "f\($0)" }, weight: 7)
        let lines = lines(tree(of: trace).roots)
        #expect(lines.count == CallTreeBuilder.deepestPath)
        #expect(lines.first == "0 f999 7 0" && lines.last == "999 f0 7 7")
    }

    @Test func `adds the weight of hidden libraries to their callers`() {
        var trace = samples
        trace.sample(["work", "store perform", "system dispatch_sync", "main"], weight: 8)
        trace.sample(["store fill", "work", "store perform", "main"], weight: 6)
        #expect(
            lines(tree(of: trace, hiding: true).roots) == [
                "0 main 23 0", "1 work 14 8", "2 fill() 6 6", "1 outer 7 0", "2 inner 7 7", "1 other 2 0",
                "2 inner 2 2",
            ])
    }

    @Test func `shows a function that calls itself once, and begins with the group if there is one`() {
        var trace = TraceBuilder()
        trace.sample(["visit", "visit", "visit", "main"], weight: 5)
        #expect(
            lines(tree(of: trace, group: "main thread").roots) == [
                "0 main thread 5 0", "1 main 5 0", "2 visit 5 5",
            ])
    }

    @Test func `weighs the store's operations, each at the function that the program called`() {
        var trace = TraceBuilder()
        let stack = trace.stack(of: ["fl_end", "store record", "store fetch", "list", "main"])
        var fetch = TraceEvent.Fetch()
        (fetch.rows, fetch.trips, fetch.bytes, fetch.prefetchedBytes) = (20, 3, 400, 80)
        let id = trace.event(.fetch(fetch), duration: 700, stack: stack)
        var statement = TraceEvent.Statement()
        (statement.rows, statement.type) = (20, .read)
        trace.event(.sql(statement), duration: 600, parent: id, stack: stack)
        statement.rows = 7
        trace.event(.sql(statement), duration: 50, stack: stack)
        (statement.rows, statement.type) = (0, .transaction)
        trace.event(.sql(statement), duration: 10, stack: stack)
        var fault = TraceEvent.Fault()
        fault.source = .gone
        trace.event(.fault(fault), duration: 5, stack: stack)
        let weights: [(CallTreeWeight, UInt64)] = [(.time, 765), (.trips, 5), (.rows, 27), (.bytes, 480)]
        for (weight, total) in weights {
            let tree = tree(of: trace, weight)
            #expect(tree.total == total)
            #expect(lines(tree.roots) == ["0 main \(total) 0", "1 list \(total) 0", "2 fetch() \(total) \(total)"])
        }
        #expect(tree(of: trace, .cpu).total == 0)
    }
}
