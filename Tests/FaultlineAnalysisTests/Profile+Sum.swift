import Testing

@testable import FaultlineAnalysis

extension Profile {
    /// Profiles of the same thresholds, added up in this order.
    init(sum profiles: [Profile]) {
        self.init()
        for profile in profiles {
            do { try merge(profile) } catch { Issue.record(error) }
        }
    }
}
