import FaultlineDocuments
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport

@Suite("The text of a timeline")
struct TimelineTextTests {
    /// Two scopes, two fetches with a statement each, and memory.
    private func timeline(_ scope: String = "list", program: String = "/usr/bin/groceries") throws -> EventTimeline {
        var builder = TimelineBuilder(from: 0, to: 64_000_000)
        builder.add(ProcessBegan(process: 7, program: program))
        func add(_ detail: TraceEvent.Detail, _ start: UInt64, _ duration: UInt64 = 0, id: EventID = 0) {
            let event = TraceEvent(
                id: id, start: start * 1_000_000, duration: duration * 1_000_000, thread: 7, process: 7, detail)
            if case .scope(let fields) = detail {
                builder.add(fields, event, name: scope)
            } else {
                builder.add(event)
            }
        }
        var end = TraceEvent.Scope()
        (end.phase, end.kind) = (.end, .screen)
        add(.scope(end), 0, 24, id: 1)
        add(.scope(end), 40, 1, id: 2)
        add(.sql(TraceEvent.Statement()), 9, 1)
        add(.fetch(TraceEvent.Fetch()), 8, 8)
        add(.sql(TraceEvent.Statement()), 33, 30)
        add(.fetch(TraceEvent.Fetch()), 32, 32)
        for (time, size): (UInt64, UInt64) in [(4, 1 << 20), (36, 8 << 20)] {
            var memory = TraceEvent.Memory()
            memory.resident = size
            add(.memory(memory), time)
        }
        return try #require(builder.finish())
    }

    @Test func `has a row for each kind over one axis`() throws {
        let text = TimelineText(timeline: try timeline()).render(width: 66, colour: false)
        #expect(
            text == """
                6 events from 0 ns to 64.0 ms  (each column is 2.00 ms)

                                        │0 ms                    │50 ms      total
                groceries, process 7
                  list (screen)         ━━━━━━━━━━━━        ╌              25.0 ms
                  Fetches                   ████        ████████████████   40.0 ms
                  SQL                       ▄           ▄██████████████▅   31.0 ms
                  Memory                  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██████████████  8.00 MiB

                """)
    }

    @Test func `has nothing but its title without events of a kind with a track`() throws {
        var builder = TimelineBuilder()
        builder.add(ProcessBegan(process: 7))
        builder.add(ProcessEnded(process: 7, end: 2000))
        let timeline = try #require(builder.finish())
        #expect(
            TimelineText(timeline: timeline).render(width: 100, colour: false)
                == "0 events from 0 ns to 2.00 µs  (each column is 30 ns)\n")
    }

    @Test func `shows names as what they are`() throws {
        let text = TimelineText(timeline: try timeline("\u{1B}[31m\nx", program: "/a/\u{1B}b"))
            .render(width: 100, colour: false)
        #expect(!text.contains("\u{1B}") && text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func `leaves out the kind of a scope whose name needs the room`() throws {
        let text = TimelineText(timeline: try timeline("search by beginning")).render(width: 100, colour: false)
        #expect(text.contains("\n  search by beginning   ━"))
    }

    @Test func `is coloured if asked for`() throws {
        let text = TimelineText(timeline: try timeline()).render(width: 100, colour: true)
        #expect(text.contains("\u{1B}[32m") && text.contains("\u{1B}[34m"))
    }

    @Test(
        arguments: [
            (
                0...100_000_000,
                "│0 ms               │20 ms               │40 ms               │60 ms               │80 ms"
            ),
            (1_203_900_000...1_206_100_000, "    │1,204.0 ms             │1,204.5 ms"), (5...6, "│5 ns"),
            (0...0, "│0 ns"),
            (3_600_000_000_000...3_600_000_000_900, "│3,600,000,000.0 µs    │3,600,000,000.2 µs"),
        ] as [(ClosedRange<UInt64>, String)])
    func `The axis has ticks at round times`(range: ClosedRange<UInt64>, start: String) {
        let line = TimeAxis(range: range, width: 104).line
        #expect(line.hasPrefix(start) && line.count <= 104, "\(line)")
    }

    @Test func `JSON has the numbers of each column`() throws {
        let text = try timeline().jsonText
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(document["from"] as? Int == 0 && document["to"] as? Int == 64_000_000)
        #expect(document["columns"] as? Int == 100 && document["columnDuration"] as? Int == 640_000)
        let lane = try #require((document["lanes"] as? [[String: Any]])?.first)
        #expect(lane["process"] as? Int == 7 && lane["thread"] is NSNull)
        let tracks = try #require(lane["tracks"] as? [[String: Any]])
        #expect(tracks.map { $0["kind"] as? String } == ["fetch", "sql", "memory"])
        #expect(tracks.map { $0["count"] as? Int } == [2, 2, 2])
        for track in tracks {
            let covered = try #require(track["covered"] as? [Int])
            #expect(covered.count == 100 && (track["began"] as? [Int])?.reduce(0, +) == 2)
            #expect(abs(covered.reduce(0, +) - (track["time"] as? Int ?? -1)) <= 100)
        }
        #expect(tracks[2]["highest"] as? Int == 8 << 20)
        let scopes = try #require(lane["scopes"] as? [[String: Any]])
        #expect(scopes.map { $0["name"] as? String } == ["list"] && scopes[0]["kind"] as? String == "screen")
    }
}
