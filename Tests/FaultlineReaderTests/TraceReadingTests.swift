import FaultlineTrace
import Foundation
import Testing

@testable import FaultlineReader

@Suite("Reading a trace whose names are read before its events")
struct TraceReadingTests {
    private struct Stop: Error {}

    private func file(events: Int) throws -> TraceFile {
        try TraceFile(Lines.timeline([Lines.began()] + (1...events).map { Lines.fault(id: $0) } + [Lines.ended()]))
    }

    @Test(
        "delivers the same messages in the same order, whatever their number", arguments: [1, 511, 512, 513, 5000])
    func same(events: Int) throws {
        let file = try file(events: events)
        let direct = try file.read()
        var messages: [TraceMessage] = []
        let summary = try TraceReader(path: file.path).begin().read { messages.append($0) }
        #expect(messages == direct.messages && summary == direct.summary)
        #expect(summary.events == events)
    }

    @Test("rethrows an error of its handler and stops", arguments: [1, 600, 4999])
    func stops(place: Int) throws {
        let file = try file(events: 5000)
        var taken = 0
        #expect(throws: Stop.self) {
            try TraceReader(path: file.path).begin().read { message in
                guard case .event = message else { return }
                taken += 1
                if taken == place { throw Stop() }
            }
        }
        #expect(taken == place)
    }

    @Test("detects that the trace was written to, and skips what came after the names")
    func outdated() throws {
        let file = try TraceFile(Lines.timeline([Lines.began(), Lines.fault(id: 1)]))
        let reading = try TraceReader(path: file.path).begin()
        #expect(!reading.isOutdated)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((Lines.fault(id: 2) + ",\n").utf8))
        try handle.close()
        #expect(reading.isOutdated)
        let summary = try reading.read { _ in }
        #expect(summary.events == 1)
    }
}
