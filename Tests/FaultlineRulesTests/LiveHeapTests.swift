import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Sampled allocations")
struct LiveHeapTests {
    @Test func `add up to the memory that is allocated at each place`() {
        var heap = LiveHeap<String>()
        heap.allocate(1, 100, at: "a")
        heap.allocate(2, 50, at: "b")
        heap.allocate(3, 30, at: "a")
        heap.free(1)
        #expect(heap.live == ["a": 30, "b": 50] && heap.total == 80 && heap.peak == 180)
        heap.free(3)
        #expect(heap.live == ["b": 50])
    }

    @Test func `show the places at the peak, wherever it is`() {
        var heap = LiveHeap<String>()
        heap.allocate(1, 100, at: "early")
        heap.free(1)
        heap.allocate(3, 300, at: "middle")
        heap.free(3)
        heap.allocate(5, 200, at: "late")
        #expect(heap.atPeak() == ["middle": 300])
        heap.allocate(6, 900, at: "last")
        #expect(heap.atPeak() == ["late": 200, "last": 900])
    }

    @Test func `that grow back and forth by small steps have a peak within a hundredth`() {
        var heap = LiveHeap<String>()
        heap.allocate(1, 10_000, at: "base")
        for step in 2...60 {
            let id = EventID(step * 2)
            heap.allocate(id, 3, at: "step")
            heap.allocate(id + 1, 2, at: "more")
            heap.free(id + 1)
        }
        let sum = heap.atPeak().values.reduce(0, +)
        #expect(heap.peak == 10_000 + 59 * 3 + 2)
        #expect(sum * 100 >= heap.peak * 99 && sum <= heap.peak)
    }

    @Test func `that were freed without being known change nothing`() {
        var heap = LiveHeap<String>()
        heap.allocate(1, 10, at: "a")
        heap.free(77)
        #expect(heap.total == 10 && heap.live == ["a": 10])
    }
}

@Suite("The memory of a program")
struct AllocationSumTests {
    private func sums(of trace: TraceBuilder) throws -> [String: AllocationSum] {
        let profile = Profile(trace.closed())
        let stored = try Profile(fileData: profile.fileData())
        #expect(stored.allocations.map(\.path) == profile.allocations.map(\.path))
        #expect(stored.allocations.map(\.sum.atPeak) == profile.allocations.map(\.sum.atPeak))
        let rows = profile.allocations.map { path, sum in
            ("\(path.scope?.name ?? "-"): " + path.functions.map(\.function).joined(separator: " < "), sum)
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test func `is divided by scope and call path, with what each scope keeps`() throws {
        var trace = TraceBuilder()
        let name = trace.define(.name(NameEntry(name: "list")))
        var first: EventID = 0
        trace.scoped(name, .screen) { trace in
            first = trace.allocate(1000, at: ["cache", "show"])
            let second = trace.allocate(300, at: ["row", "show"])
            trace.free(second)
        }
        trace.allocate(50, at: ["system malloc", "show"])
        trace.free(first)
        let sums = try sums(of: trace)
        let cache = try #require(sums["list: cache < show"])
        #expect(
            cache.bytes == 1000 && cache.count == 2 && cache.kept == 1000 && cache.atPeak == 1000 && cache.atEnd == 0)
        let row = try #require(sums["list: row < show"])
        #expect(row.bytes == 300 && row.kept == 0 && row.atPeak == 300)
        let show = try #require(sums["-: show"])
        #expect(show.bytes == 50 && show.kept == 0 && show.atPeak == 0 && show.atEnd == 50)
    }

    @Test func `keeps the most that a process had in RAM`() throws {
        var trace = TraceBuilder()
        for (resident, proportional) in [(5_000_000, 4_000_000), (9_000_000, 7_000_000), (6_000_000, 0)]
            as [(UInt64, UInt64)]
        {
            var memory = TraceEvent.Memory()
            (memory.resident, memory.proportional) = (resident, proportional)
            trace.event(.memory(memory))
        }
        let profile = Profile(trace.closed())
        #expect(profile.programMemory.map(\.program) == ["/usr/bin/groceries"])
        let memory = try #require(profile.programMemory.first?.memory)
        #expect(memory.resident == 9_000_000 && memory.proportional == 7_000_000 && memory.readings == 3)
    }
}
