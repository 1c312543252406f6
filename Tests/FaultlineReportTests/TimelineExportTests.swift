import Foundation
import Testing
import TraceFixtures

@testable import FaultlineReport
@testable import FaultlineTrace

@Suite("An exported timeline")
struct TimelineExportTests {
    private static func export(_ messages: [TraceMessage]) -> [String] {
        var exporter = TimelineExporter(ExportOptions())
        var output = ExportBuffer()
        for message in messages { exporter.add(message, to: &output) }
        exporter.finish(&output)
        let text = String(decoding: output.bytes, as: UTF8.self)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        return text.split(separator: "\n").map { String($0.hasSuffix(",") ? $0.dropLast() : $0) }
    }

    @Test func `A trace has tracks with names, nested events and arrows`() {
        var builder = TraceBuilder()
        let entity = builder.entity("It\"em")
        let scope = builder.define(.name(NameEntry(name: "list")))
        builder.isMainThread = true
        var begin = TraceEvent.Scope()
        (begin.name, begin.kind) = (scope, .screen)
        var end = begin
        end.phase = .end
        builder.event(.scope(begin), duration: 0)
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.rows, fetch.parameters) = (entity, 3, 255)
        let origin = builder.event(.fetch(fetch), duration: 2_500)
        var fault = TraceEvent.Fault()
        (fault.entity, fault.origin, fault.source) = (entity, origin, .store)
        builder.event(.fault(fault), duration: 1_000)
        builder.event(.use(TraceEvent.Use()), duration: 500)
        builder.event(.scope(end), duration: 0)
        let lines = Self.export(builder.closed())
        #expect(lines.first == "[" && lines.last == "]")
        #expect(
            lines[1].hasPrefix(#"{"name":"faultline.began","ph":"M","pid":7,"tid":0,"args":{"date":0,"process":7,"#))
        #expect(lines[2] == #"{"name":"process_name","ph":"M","pid":7,"tid":0,"args":{"name":"groceries"}}"#)
        let entry = #"{"name":"faultline.entity","ph":"M","pid":7,"tid":0,"args":{"id":1,"entry":"#
        #expect(lines[3] == entry + #"{"name":"It\"em","properties":[]}}}"#)
        let events = lines.filter { !$0.contains("\"ph\":\"M\"") }
        let places = events.map { String($0.prefix { $0 != "{" || $0 == events[0].first }) }
        #expect(places.count == 9)
        #expect(lines.contains(#"{"name":"thread_name","ph":"M","pid":7,"tid":7,"args":{"name":"main thread"}}"#))
        #expect(
            events.contains {
                $0.hasPrefix(#"{"name":"list","cat":"scope","ph":"b","id2":{"local":"0x1"},"ts":1.000,"pid":7,"#)
            })
        let slice =
            #"{"name":"fetch It\"em","cat":"fetch","ph":"X","ts":1.000,"dur":2.500,"pid":7,"tid":7,"args":{"id":2,"#
        #expect(events.contains { $0.hasPrefix(slice) && $0.contains(#""parameters":"00000000000000ff""#) })
        let arrow = #"{"name":"origin","cat":"flow","ph":""#
        #expect(events.contains(arrow + #"s","id":2,"bp":"e","ts":2.250,"pid":7,"tid":7}"#))
        #expect(events.contains(arrow + #"t","id":2,"bp":"e","ts":4.000,"pid":7,"tid":7}"#))
        #expect(events.contains { $0.contains(#""cat":"use","ph":"i","s":"t","ts":"#) })
        #expect(events.contains { $0.contains(#""cat":"scope","ph":"e","id2":{"local":"0x5"}"#) })
    }

    @Test func `Events that overlap have tracks of their own`() {
        var messages: [TraceMessage] = [.began(ProcessBegan(process: 7, program: ""))]
        let spans: [(UInt64, UInt64)] = [(0, 40), (10, 20), (30, 50), (60, 0), (10, 30), (0, 100), (90, 30)]
        for (index, span) in spans.enumerated() {
            var event = TraceEvent(
                id: UInt64(index) + 1, start: span.0 * 1000, duration: span.1 * 1000, thread: 9, process: 7,
                .sql(TraceEvent.Statement()))
            event.isMainThread = false
            messages.append(.event(event))
        }
        let lines = Self.export(messages)
        #expect(lines.contains(#"{"name":"process_name","ph":"M","pid":7,"tid":0,"args":{"name":"process 7"}}"#))
        #expect(lines.contains(#"{"name":"thread_name","ph":"M","pid":7,"tid":9,"args":{"name":"thread 9"}}"#))
        let shown = lines.filter { $0.contains("\"cat\":\"sql\"") }.compactMap { line in
            line.firstMatch(of: #/"ph":"(.)"(?:,"id2":\{"local":"0x(\d)"\})?,"ts":(\d+)\.000/#).map {
                "\($0.1)\($0.2 ?? "") \($0.3)"
            }
        }
        #expect(
            shown == ["X 0", "X 10", "b3 30", "e3 80", "X 60", "X 10", "X 0", "b7 90", "e7 120"], "\(shown)")
        // The end of such an event is no event of its own.
        let end = #"{"name":"sql","cat":"sql","ph":"e","id2":{"local":"0x3"},"ts":80.000,"pid":7,"tid":9}"#
        #expect(lines.contains(end))
        #expect(
            lines.contains {
                $0.contains(#""id2":{"local":"0x3"},"ts":30.000"#) && $0.contains(#""args":{"id":3,"duration":50000"#)
            })
    }

    @Test func `An empty trace is an empty timeline`() {
        #expect(Self.export([]) == ["[", "]"])
    }

    @Test func `Slices may come in any order`() {
        var nesting = TrackNesting()
        let spans: [(UInt64, UInt64, Bool)] = [
            (100, 200, true), (0, 50, true), (120, 180, true), (130, 150, true), (140, 160, false), (150, 180, true),
            (110, 120, true), (110, 130, false), (50, 100, true), (0, 300, true), (0, 300, true), (299, 301, false),
            (300, 301, true), (20, 20, true), (90, 110, false),
        ]
        for (start, end, isNested) in spans { #expect(nesting.add(start, end) == isNested, "\(start)–\(end)") }
    }

    /// Each level is a call, and too many of them would overflow the stack.
    @Test(arguments: [true, false])
    func `Slices may be nested without end`(isOutermostFirst: Bool) {
        var nesting = TrackNesting()
        let count: UInt64 = isOutermostFirst ? 5_000 : 100_000
        var levels: UInt64 = 0
        for index in 0..<count {
            let level = isOutermostFirst ? index : count - 1 - index
            levels += nesting.add(level, 2 * count + 1 - level) ? 1 : 0
        }
        #expect(isOutermostFirst ? levels == 257 : levels == count)
    }

    @Test func `Many slices that follow one another are all nested`() {
        var nesting = TrackNesting()
        let count: UInt64 = 200_000
        #expect((0..<count).allSatisfy { nesting.add($0 * 2, $0 * 2 + 1) })
        #expect(nesting.add(0, count * 2) && !nesting.add(count * 2 - 5, count * 2 + 5))
    }
}
