internal import FaultlineTrace

extension ProfileDiff {
    /// A finding that one side has, or both.
    public struct FindingChange: Sendable {
        /// The state of a finding after the change.
        public enum State: String, Sendable, Hashable, CaseIterable {
            case new, gone, still
        }

        /// `nil` if that side does not have the finding.
        public let before: Finding?
        public let after: Finding?
        /// The state.
        ///
        /// A finding that one side lacks only because of noise is `still` there.
        public let state: State

        /// The finding as it is after, or else as it was before.
        public var finding: Finding? { after ?? before }
    }

    /// Pairs the findings of two runs: first the new ones, then those that stayed, then those that are gone.
    ///
    /// Some rules judge by time. If nothing else changed, a time that crosses a threshold between the runs makes no
    /// finding new or gone.
    static func findings(_ old: [Finding], _ new: [Finding], operations: [Operation]) -> [FindingChange] {
        var (left, pairs) = (old, [(Finding?, Finding)]())
        // A proposal may be derived from another line in each run, so the same advice counts as the same finding.
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
        pairs = pairs.ordered(on: { order[$0.1.signature] ?? 0 })
        let isNoise = { (finding: Finding) in isEvaluatedByTime(finding) && isUntouched(finding, operations) }
        let both = pairs.map { FindingChange(before: $0.0, after: $0.1, state: .still) }
        let added = rest.map { FindingChange(before: nil, after: $0, state: isNoise($0) ? .still : .new) }
        let removed = left.map { FindingChange(before: $0, after: nil, state: isNoise($0) ? .still : .gone) }
        let all = added + both + removed
        return all.filter { $0.state == .new } + all.filter { $0.state == .still } + all.filter { $0.state == .gone }
    }

    /// Whether the rule judges by times, which are noisy, and not by counts alone.
    private static func isEvaluatedByTime(_ finding: Finding) -> Bool {
        Rules.all.first { $0.id == finding.rule }?.thresholds.contains {
            // A share of a time is as noisy as the time.
            $0.unit == .time || $0.name.hasSuffix("TimeShare")
        } ?? false
    }

    /// Whether the finding's lines have operations, and all of these are unchanged.
    private static func isUntouched(_ finding: Finding, _ operations: [Operation]) -> Bool {
        let sites = Set(([finding.change] + finding.seenAt.map(\.site)).compactMap { $0 })
        let own = operations.filter { operation in
            [operation.before, operation.after].compactMap { $0?.key }
                .contains { key in [key.site, key.fetchSite].contains { $0.map(sites.contains) ?? false } }
        }
        return !own.isEmpty && own.allSatisfy { $0.verdict == .same }
    }
}
