import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation
import ProjectFiles
import Testing

@testable import faultline

@Suite("The reports of the sample traces")
struct SampleReportTests {
    private func report(_ story: String) throws -> TraceReport {
        try TraceReport(path: SampleTraces.trace(story).path)
    }

    @Test(
        "are exactly the texts next to them, before the next step, which names a file", arguments: SampleTraces.stories)
    func text(story: String) throws {
        let file = SampleTraces.folder.appendingPathComponent("\(story)/report.txt")
        let whole = try String(contentsOf: file, encoding: .utf8)
        let expected = whole.range(of: "\nNext, ", options: .backwards).map { whole[..<$0.lowerBound] } ?? whole[...]
        #expect(TextReport(try report(story).analysis).render() == String(expected))
    }

    @Test(
        "show each finding in every format that prints reports",
        arguments: SampleTraces.stories.filter { $0 != "groceries-improved" })
    func formats(story: String) throws {
        let analysis = try report(story).analysis
        let rules = Set(analysis.findings.map(\.rule))
        #expect(!rules.isEmpty)
        var count = 0
        for renderer in Renderers.all {
            guard let print = renderer.printer(of: Analysis.self) else { continue }
            let text = print(analysis, Layout(showsAll: true))
            let missing = rules.filter { !text.contains($0) }
            #expect(missing.isEmpty, "\(renderer.name) lacks \(missing.sorted())")
            count += 1
        }
        #expect(count >= 5)
    }

    @Test("have events whose weights in a call tree are sums of their fields", arguments: SampleTraces.stories)
    func weights(story: String) throws {
        var weighed: Set<CallTreeWeight> = []
        var trace = try LoadedTrace(path: SampleTraces.trace(story).path)
        _ = try trace.read { message in
            guard case .event(let event) = message else { return }
            let values = Dictionary(
                event.detail.values.fields.map { ($0.field.name, $0.value) } + [("duration", event.duration)]
            ) { field, _ in field }
            for weight in CallTreeWeight.all where weight.of(event) > 0 {
                weighed.insert(weight)
                let fields = weight.fields(of: event.kind)
                let sum = fields.map { $0.isEmpty ? 1 : $0.reduce(0) { $0 &+ (values[$1] ?? 0) } }
                #expect(sum == weight.of(event), "\(weight) of \(event)")
            }
        }
        #expect(weighed.isSuperset(of: [.time, .trips, .rows]))
    }
}
