import FaultlineDocuments
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("The report of sampled allocations")
struct MemoryTextTests {
    private var trace: TraceBuilder {
        var trace = TraceBuilder()
        let name = trace.define(.name(NameEntry(name: "list")))
        trace.scoped(name, .screen) { trace in
            trace.allocate(8 << 20, at: ["cache", "show", "main"])
            let row = trace.allocate(2 << 20, at: ["row", "show", "main"])
            trace.free(row)
        }
        trace.allocate(1 << 20, at: [])
        var memory = TraceEvent.Memory()
        (memory.resident, memory.proportional) = (20 << 20, 18 << 20)
        trace.event(.memory(memory))
        return trace
    }

    @Test func `shows the peak by call path, and what scopes keep`() {
        #expect(
            MemoryText(profile: Profile(trace.closed()), showsAll: false).lines(Ink(isColoured: false), 100) == [
                "Memory",
                "  10.0 MiB at the peak; 11.0 MiB allocated, by 3 samples; the largest process had 20.0 MiB in RAM",
                "  (PSS 18.0 MiB)",
                "   at peak  share  allocated  call path            file",
                "  8.00 MiB   80 %   8.00 MiB  cache ← show ← main  cache.c",
                "  2.00 MiB   20 %   2.00 MiB  row ← show ← main    row.c",
                "       0 B  0.0 %   1.00 MiB  unknown",
                "",
                "  scope          allocated  kept at its end  most of it kept by",
                "  list (screen)   10.0 MiB         8.00 MiB  cache ← show ← main",
            ])
    }

    @Test func `is absent if nothing was sampled`() {
        #expect(MemoryText(profile: Profile(), showsAll: true).lines(Ink(isColoured: false), 100).isEmpty)
    }

    @Test func `stands in the JSON`() {
        let json = ReportJSON(Analysis(Profile(trace.closed()))).render()
        #expect(json.contains("\"atPeak\": 8388608,\n"))
        #expect(json.contains("\"resident\": 20971520\n"))
    }

    @Test func `has trees of all allocations and of those that were not freed`() {
        let totals = [CallTreeWeight.allocations, .live].map { weight in
            var paths = CallPaths(dictionary: trace.dictionary)
            var builder = CallTreeBuilder(weight)
            for case .event(let event) in trace.messages { builder.add(event, path: paths.functions(of: event)) }
            let tree = builder.finish()
            return "\(tree.total >> 20) \(tree.events) \(tree.unknown >> 20) \(tree.roots.map(\.function.name))"
        }
        #expect(totals == ["11 3 1 [\"main\"]", "9 2 1 [\"main\"]"])
    }
}
