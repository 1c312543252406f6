import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineTrace

@Suite("Exported call paths")
struct CallPathExportTests {
    static func export(
        _ format: any TraceExporter.Type, _ messages: [TraceMessage] = GroceriesStory.trace,
        weight: CallTreeWeight? = nil
    ) -> [UInt8] {
        var exporter = format.init(ExportOptions(weight: weight))
        var output = ExportBuffer()
        for message in messages { exporter.add(message, to: &output) }
        exporter.finish(&output)
        return output.bytes
    }

    /// The sums of the sample trace, by weight.
    static func total(_ weight: CallTreeWeight) -> UInt64 {
        var trees = CallTreeSet([weight])
        for message in GroceriesStory.trace { trees.add(message) }
        return trees.finish()[0].total
    }

    @Test func `Folded stacks have the weight that a tree shows`() {
        let text = String(decoding: Self.export(FoldedExporter.self), as: UTF8.self)
        let sum = text.split(separator: "\n").compactMap { $0.split(separator: " ").last.flatMap { UInt64($0) } }
            .reduce(0, +)
        #expect(sum == Self.total(.time) && sum > 0)
        #expect(text.contains("scroll() 1435000\n"), "\(text)")
        let rows = String(decoding: Self.export(FoldedExporter.self, weight: .rows), as: UTF8.self)
        #expect(rows.contains("[unknown] ") && rows.contains("scroll() "))
    }

    @Test func `Speedscope has a profile for each weight of the trace`() throws {
        let data = Data(Self.export(SpeedscopeExporter.self))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(file["$schema"] as? String == "https://www.speedscope.app/file-format-schema.json")
        #expect(file["name"] as? String == "groceries" && file["exporter"] as? String == "Faultline \(Version.current)")
        let frames = try #require((file["shared"] as? [String: Any])?["frames"] as? [[String: String]])
        #expect(frames.contains(["name": "scroll()", "file": "/src/Groceries/Scroll.swift"]))
        let all = try #require(file["profiles"] as? [[String: Any]])
        #expect(all.map { $0["type"] as? String } == Array(repeating: "sampled", count: 4) + ["evented"])
        let profiles = Array(all.prefix(4))
        #expect(profiles.map { $0["name"] as? String } == ["time", "trips", "rows", "bytes"])
        #expect(profiles.map { $0["unit"] as? String } == ["nanoseconds", "none", "none", "bytes"])
        for (profile, weight) in zip(profiles, [CallTreeWeight.time, .trips, .rows, .bytes]) {
            let weights = try #require(profile["weights"] as? [UInt64])
            let samples = try #require(profile["samples"] as? [[Int]])
            #expect(profile["type"] as? String == "sampled" && profile["startValue"] as? Int == 0)
            #expect(weights.reduce(0, +) == Self.total(weight) && profile["endValue"] as? UInt64 == Self.total(weight))
            #expect(samples.count == weights.count && samples.joined().allSatisfy { frames.indices.contains($0) })
            #expect(samples.allSatisfy { !$0.isEmpty })
        }
    }

    private struct EventedFile: Decodable {
        struct Frame: Decodable { var name: String }
        struct Shared: Decodable { var frames: [Frame] }
        struct Event: Decodable {
            var type: String
            var frame: Int
            var at: UInt64
        }
        struct Profile: Decodable {
            var type: String
            var name: String
            var startValue: UInt64
            var endValue: UInt64
            var events: [Event]?
        }
        var activeProfileIndex: Int
        var shared: Shared
        var profiles: [Profile]

        /// The events of a profile, such as `"O fetch 100"`.
        func events(_ index: Int) -> [String] {
            (profiles[index].events ?? []).map { "\($0.type) \(shared.frames[$0.frame].name) \($0.at)" }
        }
    }

    private static func evented(
        _ messages: [TraceMessage], weight: CallTreeWeight? = nil
    ) throws -> EventedFile {
        try JSONDecoder().decode(
            EventedFile.self, from: Data(export(SpeedscopeExporter.self, messages, weight: weight)))
    }

    private static func event(
        _ id: EventID, _ times: Range<UInt64>, thread: UInt32 = 9, _ detail: TraceEvent.Detail
    ) -> TraceMessage {
        .event(
            TraceEvent(
                id: id, start: times.lowerBound, duration: UInt64(times.count), thread: thread, process: 7, detail))
    }

    @Test func `Speedscope has the run of each thread in order, strictly nested`() throws {
        var end = TraceEvent.Scope()
        end.phase = .end
        let file = try Self.evented([
            .began(ProcessBegan(process: 7, program: "/bin/groceries")),
            .entry(process: 7, id: 1, .thread(ThreadEntry(thread: 8, name: "worker", isMain: false))),
            Self.event(1, 120..<130, .sql(TraceEvent.Statement())),
            Self.event(2, 110..<150, .fetch(TraceEvent.Fetch())),
            // The inner one of two with equal times comes first.
            Self.event(3, 160..<170, .sql(TraceEvent.Statement())),
            Self.event(4, 160..<170, .save(TraceEvent.Save())),
            Self.event(5, 100..<180, .scope(end)),
            Self.event(6, 110..<120, thread: 8, .sql(TraceEvent.Statement())),
            // An event without a duration is no part of a run.
            Self.event(7, 190..<190, .fetch(TraceEvent.Fetch())),
        ])
        let runs = file.profiles.indices.filter { file.profiles[$0].type == "evented" }
        #expect(runs.map { file.profiles[$0].name } == ["thread 9", "worker"])
        #expect(file.activeProfileIndex == runs.first)
        #expect(runs.allSatisfy { file.profiles[$0].startValue == 100 && file.profiles[$0].endValue == 180 })
        #expect(
            file.events(runs[0]) == [
                "O scope 100", "O fetch 110", "O sql 120", "C sql 130", "C fetch 150", "O save 160", "O sql 160",
                "C sql 170", "C save 170", "C scope 180",
            ])
        #expect(file.events(runs[1]) == ["O sql 110", "C sql 120"])
    }

    @Test func `Events of a run that overlap have a profile of their own`() throws {
        let file = try Self.evented([
            Self.event(1, 0..<40, .sql(TraceEvent.Statement())), Self.event(2, 30..<50, .fetch(TraceEvent.Fetch())),
            Self.event(3, 40..<60, .save(TraceEvent.Save())),
        ])
        let runs = file.profiles.indices.filter { file.profiles[$0].type == "evented" }
        #expect(runs.map { file.profiles[$0].name } == ["thread 9", "thread 9, overlapping events 1"])
        #expect(file.events(runs[0]) == ["O sql 0", "C sql 40", "O save 40", "C save 60"])
        #expect(file.events(runs[1]) == ["O fetch 30", "C fetch 50"])
    }

    @Test func `Runs of threads with one name have their numbers, and those of processes their programs`() throws {
        let workers: [TraceMessage] = [8, 10].flatMap { thread in
            [
                .entry(process: 7, id: thread, .thread(ThreadEntry(thread: thread, name: "worker", isMain: false))),
                Self.event(UInt64(thread), 0..<9, thread: thread, .sql(TraceEvent.Statement())),
            ]
        }
        let names = { (file: EventedFile) in file.profiles.filter { $0.type == "evented" }.map(\.name) }
        #expect(names(try Self.evented(workers)) == ["worker (thread 8)", "worker (thread 10)"])
        let processes = [("/bin/shop", UInt32(7)), ("/bin/till", 6)].map { program, process in
            TraceMessage.began(ProcessBegan(process: process, program: program))
        }
        let last = Array(workers.suffix(2))
        #expect(names(try Self.evented(processes + last)) == ["shop 7: worker"])
    }

    @Test func `A run belongs to the time, and not to other weights`() throws {
        #expect(try Self.evented(GroceriesStory.trace, weight: .time).profiles.map(\.type) == ["sampled", "evented"])
        let rows = try Self.evented(GroceriesStory.trace, weight: .rows)
        #expect(rows.profiles.map(\.type) == ["sampled"] && rows.activeProfileIndex == 0)
    }

    @Test func `A trace without call paths has a profile, too`() throws {
        let data = Data(Self.export(SpeedscopeExporter.self, []))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((file["profiles"] as? [Any])?.count == 1 && file["name"] as? String == "trace")
    }

    @Test func `Names of formats are unique, and the help has them`() {
        let names = TraceExporters.all.map { $0.name }
        #expect(Set(names).count == names.count)
        #expect(TraceExporters.help.hasPrefix("timeline for Perfetto and chrome://tracing, "))
    }
}
