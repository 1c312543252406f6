public import FaultlineTrace

/// A statement that SQLite runs with a different plan than before.
public struct PlanChange: Sendable, Hashable {
    public let shape: ShapeEntry
    /// The line of the fetch in the later run.
    public let site: CallSite?
    /// The statement's text.
    public let text: String
    /// The plans of each side in alphabetical order.
    ///
    /// The lines of a plan are separated by line feeds.
    public let before: [String]
    public let after: [String]

    /// Returns the plan changes between two profiles, fetch by fetch.
    ///
    /// Only statements whose plans are known on both sides are compared.
    static func all(_ old: Profile, _ new: Profile) -> [PlanChange] {
        let (before, after) = (plans(of: old), plans(of: new))
        return new.fetches.flatMap { fetch in
            fetch.statements.texts.keys.sorted().compactMap { text -> PlanChange? in
                // If several lines run the same statement, the first stands for all.
                guard let was = before[text]?.plans, let now = after[text], now.key == fetch.key, !was.isEmpty,
                    !now.plans.isEmpty, was != now.plans
                else { return nil }
                return PlanChange(
                    shape: fetch.key.shape, site: fetch.key.site, text: text, before: was.sorted(),
                    after: now.plans.sorted())
            }
        }
    }

    /// The plans of each statement, and the first fetch that runs it.
    private static func plans(of profile: Profile) -> [String: (key: FetchProfile.Key, plans: Set<String>)] {
        var plans: [String: (key: FetchProfile.Key, plans: Set<String>)] = [:]
        for fetch in profile.fetches {
            for (text, runs) in fetch.statements.texts {
                plans[text, default: (fetch.key, [])].plans.formUnion(runs.knownPlans.keys)
            }
        }
        return plans
    }
}
