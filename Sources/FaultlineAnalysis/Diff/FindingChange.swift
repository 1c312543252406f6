internal import FaultlineTrace

extension ProfileDiff {
    /// A finding that only one side has, or both.
    public struct FindingChange: Sendable {
        /// What became of a finding.
        public enum State: String, Sendable, Hashable {
            case new, gone, still
        }

        /// `nil`: that side does not have it.
        public let before: Finding?
        public let after: Finding?
        /// A finding that one side lacks by noise alone is still there.
        public let state: State

        /// The finding as it is now, or was.
        public var finding: Finding? { after ?? before }
    }

    /// Pairs the findings of two runs: the new ones first, then those that stayed, then those that are gone.
    ///
    /// Some rules judge by time. If nothing else changed, a time above a threshold in one run and below it in the other
    /// makes no finding new or gone.
    static func findings(_ old: [Finding], _ new: [Finding], operations: [Operation]) -> [FindingChange] {
        var (left, pairs) = (old, [(Finding?, Finding)]())
        // A proposal may be derived from another line in each run: the same advice is the same finding.
        let names: [(Finding) -> String] = [{ $0.signature }, { $0.rule + $0.title.text }]
        var rest = new
        for name in names {
            rest.removeAll { finding in
                guard let index = left.firstIndex(where: { name($0) == name(finding) }) else { return false }
                pairs.append((left.remove(at: index), finding))
                return true
            }
        }
        let order = Dictionary(new.enumerated().map { ($1.signature, $0) }) { first, _ in first }
        pairs.sort { (order[$0.1.signature] ?? 0) < (order[$1.1.signature] ?? 0) }
        let isNoise = { (finding: Finding) in isJudgedByTime(finding) && isUntouched(finding, operations) }
        let both = pairs.map { FindingChange(before: $0.0, after: $0.1, state: .still) }
        let added = rest.map { FindingChange(before: nil, after: $0, state: isNoise($0) ? .still : .new) }
        let removed = left.map { FindingChange(before: $0, after: nil, state: isNoise($0) ? .still : .gone) }
        let all = added + both + removed
        return all.filter { $0.state == .new } + all.filter { $0.state == .still } + all.filter { $0.state == .gone }
    }

    /// Whether the rule judges by a time, which is noisy, and not by counts alone.
    private static func isJudgedByTime(_ finding: Finding) -> Bool {
        Rules.all.first { $0.id == finding.rule }?.thresholds.contains {
            // A share of a time is as noisy as the time.
            $0.unit == .time || $0.name.hasSuffix("TimeShare")
        } ?? false
    }

    /// Whether the lines of a finding have operations, and none of these changed.
    private static func isUntouched(_ finding: Finding, _ operations: [Operation]) -> Bool {
        let sites = Set(([finding.change] + finding.seenAt.map(\.site)).compactMap { $0 })
        let own = operations.filter { operation in
            [operation.before, operation.after].compactMap { $0?.key }
                .contains { key in [key.site, key.fetchSite].contains { $0.map(sites.contains) ?? false } }
        }
        return !own.isEmpty && own.allSatisfy { $0.verdict == .same }
    }
}
