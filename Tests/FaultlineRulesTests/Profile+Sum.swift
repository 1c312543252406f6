import EqualRecordings
import FaultlineTrace
import Foundation
import Testing

@testable import FaultlineProfile
@testable import FaultlineRules

extension Profile {
    /// Sums up a trace; for `make truth-merge`, also checks that three recordings like it have the same findings.
    ///
    /// The tests of rules make their profiles so, and then hold for sums. This initializer shadows the one that takes any
    /// sequence.
    init(_ messages: [TraceMessage], thresholds: Thresholds? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        var builder = ProfileBuilder(thresholds: thresholds)
        for message in messages { builder.add(message) }
        self = builder.finish()
        guard ProcessInfo.processInfo.environment["FAULTLINE_MERGE_COPIES"] != nil else { return }
        do {
            for difference in try EqualRecordings(of: self).differences(of: 3) {
                Issue.record("3 equal recordings: \(difference)", sourceLocation: sourceLocation)
            }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }

    /// Merges profiles with the same thresholds, in this order.
    init(sum profiles: [Profile]) {
        self.init()
        for profile in profiles {
            do { try merge(profile) } catch { Issue.record(error) }
        }
    }
}
