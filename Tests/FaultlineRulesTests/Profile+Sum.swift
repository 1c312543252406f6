import FaultlineProfile
import FaultlineRules
import Testing

extension Profile {
    /// Merges profiles with the same thresholds, in this order.
    init(sum profiles: [Profile]) {
        self.init()
        for profile in profiles {
            do { try merge(profile) } catch { Issue.record(error) }
        }
    }
}
