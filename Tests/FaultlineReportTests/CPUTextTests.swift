import FaultlineDocuments
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("The report of sampled CPU time")
struct CPUTextTests {
    private var profile: Profile {
        var trace = TraceBuilder()
        let name = trace.define(.name(NameEntry(name: "list")))
        trace.scoped(name, .screen) { trace in
            trace.sample(["sqlite sqlite3VdbeExec", "store fetch", "show", "main"], times: 3)
            trace.sample(["store fetch", "show", "main"], times: 4)
            trace.sample(["system memcpy", "decode", "show", "main"], times: 12)
        }
        trace.sample(["recorder preload_end_run", "main"])
        for number in 1...6 { trace.sample(["part\(number)", "main"]) }
        return Profile(trace.closed())
    }

    @Test func `shows parts, scopes, and call paths outside the store`() {
        #expect(
            CPUText(profile: profile, showsAll: false).lines(Ink(isColoured: false), 100) == [
                "CPU time  (260 ms in 26 samples)",
                "                time  share",
                "  program     180 ms   69 %  ██████████████",
                "  store      40.0 ms   15 %  ███",
                "  SQLite     30.0 ms   12 %  ██",
                "  recording  10.0 ms  3.8 %  █",
                "",
                "  scope                 time  share  program  store  SQLite",
                "  list (screen)       190 ms   73 %     63 %   21 %    16 %",
                "  outside any scope  70.0 ms   27 %     86 %  0.0 %   0.0 %",
                "",
                "     time  share  hottest call paths outside the store  file",
                "   120 ms   46 %  decode ← show ← main                  decode.c",
                "  10.0 ms  3.8 %  part1 ← main                          part1.c",
                "  10.0 ms  3.8 %  part2 ← main                          part2.c",
                "  10.0 ms  3.8 %  part3 ← main                          part3.c",
                "  10.0 ms  3.8 %  part4 ← main                          part4.c",
                "  (2 more paths)",
            ])
    }

    @Test func `is absent if nothing was sampled`() {
        #expect(CPUText(profile: Profile(), showsAll: true).lines(Ink(isColoured: false), 100).isEmpty)
    }

    @Test func `stands in the JSON, with each part's sum`() {
        let json = ReportJSON(Analysis(profile)).render()
        #expect(json.contains("\"cpu\": {\n"))
        #expect(json.contains("\"program\": 180000000,\n"))
    }
}

@Suite("The text of a call tree")
struct CallTreeTextTests {
    private func tree(_ direction: CallTree.Direction = .topDown) -> CallTree {
        var trace = TraceBuilder()
        trace.sample(["inner", "outer", "main"], times: 98)
        trace.sample(["first;second", "main"], times: 2)
        trace.sample(["rare", "main"], weight: 1000)
        trace.sample([], weight: 2000)
        var paths = CallPaths(dictionary: trace.dictionary)
        var builder = CallTreeBuilder(.cpu, direction)
        for case .event(let event) in trace.messages { builder.add(event, path: paths.functions(of: event)) }
        return builder.finish()
    }

    @Test func `has each function below its caller, and says what it leaves out`() {
        #expect(
            CallTreeText(tree: tree(), smallestShare: 0.01).render(width: 100, colour: false) == """
                CPU time, top-down  (1.00 s in 102 samples)
                    total  share     self  function       file
                   1.00 s  100 %           main           main.c
                   980 ms   98 %            outer         outer.c
                   980 ms   98 %   980 ms    inner        inner.c
                  20.0 ms  2.0 %  20.0 ms   first;second  first;second.c
                  (1 path below 1.0 % left out)
                  2.00 µs without a call path

                """)
    }

    @Test func `of nothing says what to do`() {
        let none = CallTreeBuilder(.cpu).finish()
        #expect(
            CallTreeText(tree: none, smallestShare: 0).render(width: 100, colour: false)
                == "The trace has no samples of CPU time. To sample it, record with --cpu.\n")
        #expect(
            CallTreeText(tree: CallTreeBuilder(.rows).finish(), smallestShare: 0).render(width: 100, colour: false)
                == "No event of the trace has a weight by rows.\n")
    }

    @Test func `is one line for each call path if it is folded`() throws {
        let print = try #require(FoldedRenderer().printer(of: CallTree.self))
        let folded = print(tree(), Layout())
        #expect(folded == "main;outer;inner 980000000\nmain;first:second 20000000\nmain;rare 1000\n[unknown] 2000\n")
        // From the functions that ran to their callers, the paths are the same.
        let upward = print(tree(.bottomUp), Layout())
        #expect(upward == "inner;outer;main 980000000\nfirst:second;main 20000000\nrare;main 1000\n[unknown] 2000\n")
    }

    @Test func `is a tree in JSON too`() {
        let json = tree(.bottomUp).jsonText
        #expect(json.contains("\"direction\": \"bottomUp\""))
        #expect(json.contains("\"unknown\": 2000"))
    }
}
