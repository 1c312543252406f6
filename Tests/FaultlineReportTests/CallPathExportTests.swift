import Foundation
import Testing
import TraceFixtures

@testable import FaultlineAnalysis
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
        let profiles = try #require(file["profiles"] as? [[String: Any]])
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
