import FaultlineProfile
import Testing

@testable import FaultlineRules

extension Profile {
    /// Merges profiles with the same thresholds, in this order.
    init(sum profiles: [Profile]) {
        self.init()
        for profile in profiles {
            do { try merge(profile) } catch { Issue.record(error) }
        }
    }
}
