import EqualRecordings
import FaultlineProfile
import FaultlineRules
import Foundation
import ProjectFiles
import Testing

@testable import faultline

@Suite("The sums of equal recordings")
struct SampleSumTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// The numbers of recordings in a sum; `make truth-merge` adds a large one.
    private static let copies: [UInt64] =
        [1, 2, 3, 30] + (environment["FAULTLINE_MERGE_COPIES"].flatMap { UInt64($0) }.map { [$0] } ?? [])
    /// The sample traces, and the recordings in the folder that `make truth-merge` names.
    private static let traces: [String] = {
        let samples = SampleTraces.stories.compactMap { try? SampleTraces.trace($0).path }
        guard let folder = environment["FAULTLINE_MERGE_TRACES"] else { return samples }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return samples + names.filter { $0.hasSuffix(".json") }.sorted().map { folder + "/" + $0 }
    }()

    @Test("show what one of them shows, and nothing else", arguments: traces)
    func findings(trace: String) throws {
        let recordings = try EqualRecordings(of: TraceReport(path: trace).analysis.profile)
        for copies in Self.copies {
            let differences = try recordings.differences(of: copies)
            #expect(differences.isEmpty, "\(copies) copies")
        }
    }
}
