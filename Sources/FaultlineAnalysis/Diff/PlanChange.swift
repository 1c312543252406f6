public import FaultlineTrace

/// A statement that SQLite runs otherwise than before: the same text with other plans.
public struct PlanChange: Sendable, Hashable {
    public let shape: ShapeEntry
    /// Where the fetch stands now.
    public let site: CallSite?
    /// The statement's text.
    public let text: String
    /// The plans of each side, their lines separated by line feeds, in alphabetical order.
    public let before: [String]
    public let after: [String]

    /// What changed between two profiles, fetch by fetch.
    ///
    /// Only texts of which both sides tell a plan are compared.
    static func all(_ old: Profile, _ new: Profile) -> [PlanChange] {
        let (before, after) = (plans(of: old), plans(of: new))
        return new.fetches.flatMap { fetch in
            fetch.statements.texts.keys.sorted().compactMap { text -> PlanChange? in
                // Of several lines with one statement the first stands for all.
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
