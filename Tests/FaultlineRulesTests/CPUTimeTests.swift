import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Sampled CPU time")
struct CPUTimeTests {
    private func times(of trace: TraceBuilder) throws -> [String: UInt64] {
        let profile = Profile(trace.closed())
        let stored = try Profile(fileData: profile.fileData())
        #expect(stored.cpuTimes.map(\.path) == profile.cpuTimes.map(\.path))
        #expect(stored.cpuTimes.map(\.time.time) == profile.cpuTimes.map(\.time.time))
        let rows = profile.cpuTimes.map { path, time in
            let functions = path.functions.map(\.function).joined(separator: " < ")
            return ("\(path.part) \(path.scope?.name ?? "-"): \(functions)", time.time)
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test func `is summed up by part, scope and the program's functions`() throws {
        var trace = TraceBuilder()
        let name = trace.define(.name(NameEntry(name: "list")))
        trace.scoped(name, .screen) { trace in
            trace.sample(["sqlite sqlite3VdbeExec", "store fetch", "show", "main"], times: 3)
            trace.sample(["system memcpy", "decode", "main"], times: 2)
        }
        trace.sample(["decode", "main"])
        #expect(
            try times(of: trace) == [
                "sqlite list: show < main": 30_000_000, "program list: decode < main": 20_000_000,
                "program -: decode < main": 10_000_000,
            ])
    }

    @Test func `keeps the innermost functions of deep paths`() throws {
        var trace = TraceBuilder()
        trace.sample((1...9).map { "f\($0)" })
        #expect(try times(of: trace) == ["program -: f1 < f2 < f3 < f4 < f5 < f6": 10_000_000])
    }

    @Test func `of more paths than are kept is not lost`() throws {
        var trace = TraceBuilder()
        for number in 0..<4200 { trace.sample(["f\(number)"], weight: 1) }
        let times = try times(of: trace)
        #expect(times.count == 4097 && times["program -: "] == 104)
        #expect(times.values.reduce(0, +) == 4200)
    }

    @Test func `changes nothing else of a profile`() {
        var trace = TraceBuilder()
        let stack = trace.stack(12)
        trace.event(.fetch(TraceEvent.Fetch()), duration: 1000, stack: stack)
        let without = Profile(trace.closed())
        trace.thread = 99
        trace.sample(["decode", "main"], times: 5)
        let with = Profile(trace.closed())
        #expect(with.groups.map(\.key) == without.groups.map(\.key))
        #expect(with.totals.eventsWithStack == without.totals.eventsWithStack)
        #expect(with.totals.eventsOutsideScopes == without.totals.eventsOutsideScopes)
        #expect(with.processes.map(\.threads) == without.processes.map(\.threads))
    }
}
