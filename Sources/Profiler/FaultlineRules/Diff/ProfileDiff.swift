package import FaultlineFindings
package import FaultlineProfile
package import FaultlineTrace

/// The differences between two profiles: operations of the same shape and line side by side.
///
/// Counts are compared exactly, per trace if the profiles are sums of several. From times, the change that all
/// operations share is removed first; it comes from another machine or other work on it. A time has changed if the rest
/// exceeds the noise. ``TimeNoise`` describes the method.
package struct ProfileDiff: Sendable {
    /// The verdict on an operation.
    package enum Verdict: String, Sendable, Hashable, CaseIterable {
        case worse, better
        /// Some counts rose and others fell.
        case traded
        case new, gone, same
    }

    /// A number before and after.
    package struct Figure: Sendable, Hashable {
        package var name: String
        package var before: UInt64
        package var after: UInt64

        package init(name: String, before: UInt64, after: UInt64) {
            (self.name, self.before, self.after) = (name, before, after)
        }
    }

    /// An operation on both sides.
    package struct Operation: Sendable {
        package let before: EventGroup?
        package let after: EventGroup?
        package let verdict: Verdict
        /// The counts that differ.
        package let changes: [Figure]
        /// The change of the duration, or `nil` if one side is missing or has too few events.
        package let time: TimeChange?

        /// The operation as it is after, or else as it was before.
        package var group: EventGroup? { after ?? before }
    }

    package let before: Analysis
    package let after: Analysis
    /// The number of traces summed on each side.
    package let traces: (before: UInt64, after: UInt64)
    /// The totals of the whole profiles.
    package let totals: [Figure]
    /// The operations, the largest change first.
    package let operations: [Operation]
    /// The number of times each scope was opened, its trips and its store time.
    package let scopes: [(key: ScopeSummary.Key, figures: [Figure])]
    /// The findings: first the new ones, then those that stayed, then those that are gone.
    package let findings: [FindingChange]
    /// The fetches whose statements SQLite runs with a different plan.
    package let plans: [PlanChange]
    /// The sampled CPU time and allocations, as far as there are any.
    package let samples: [SampleDiff]
    /// The ratio of times, after to before, that all operations share.
    ///
    /// 1 if there is none.
    package let pace: Double

    /// Compares two analyses.
    package init(before: Analysis, after: Analysis) {
        self.before = before
        self.after = after
        let (old, new) = (before.profile, after.profile)
        let traces = (max(1, old.recordingCount), max(1, new.recordingCount))
        self.traces = traces
        totals = Self.totals(old, new, traces)
        let pairs = OperationAlignment.pairs(old.operations, new.operations)
        let noise = TimeNoise(pairs, traces: traces)
        let storeTime = Double(old.totals.storeTime) / Double(traces.0)
        let evaluated = pairs.indices.map { index in
            let (before, after) = pairs[index]
            let time = noise.evaluate(index) { change in
                change * Double(after?.count ?? 0) / Double(traces.1) >= storeTime * TimeNoise.minimumShare
            }
            return Operation(before, after, time, traces: traces)
        }
        let hasTimeChange = evaluated.contains { ($0.time?.direction ?? .same) != .same }
        pace = noise.pace != 1 || hasTimeChange ? noise.pace : noise.commonRatio
        operations = evaluated.ordered { $0.weight(traces) > $1.weight(traces) }
        scopes = Self.scopes(old.scopes, new.scopes)
        findings = Self.findings(before.findings, after.findings, operations: operations)
        plans = PlanChange.all(old, new)
        samples = [
            SampleDiff(.nanoseconds, old.cpuTimeByFunction, new.cpuTimeByFunction, traces),
            SampleDiff(.bytes, old.allocationsByFunction, new.allocationsByFunction, traces),
        ].compactMap(\.self)
    }

    /// The totals of the whole traces, except those that one of them does not have.
    private static func totals(
        _ old: Profile, _ new: Profile, _ traces: (before: UInt64, after: UInt64)
    ) -> [Figure] {
        let paths: [(String, KeyPath<ProfileCounts, UInt64>, needs: TraceGap.Kind?)] = [
            ("time", \.storeTime, nil), ("trips", \.readTrips, nil), ("rows", \.rowsLoaded, .rows),
            ("bytes", \.bytesRead, .sizes), ("bytesWritten", \.bytesWritten, .sizes), ("writes", \.writes, nil),
        ]
        let known = paths.filter { path in
            ![old, new].contains { profile in path.needs.map { profile.allProcesses.partlyLacks($0) } ?? false }
        }
        var totals = known.map {
            Figure(name: $0.0, before: old.totals[keyPath: $0.1], after: new.totals[keyPath: $0.1])
        }
        // The longest of more runs is longer, and an operation is longer than a statement.
        if traces.before == traces.after,
            old.allProcesses.lacks(.operations) == new.allProcesses.lacks(.operations)
        {
            let longest = Figure(
                name: "longestOperation", before: old.longestOperation, after: new.longestOperation)
            totals.insert(longest, at: 1)
        }
        return totals
    }

    private static func scopes(
        _ old: [ScopeSummary], _ new: [ScopeSummary]
    ) -> [(key: ScopeSummary.Key, figures: [Figure])] {
        let byKey = { (scopes: [ScopeSummary]) in Dictionary(scopes.map { ($0.key, $0) }) { first, _ in first } }
        let (before, after) = (byKey(old), byKey(new))
        var figures: [ScopeSummary.Key: [Figure]] = [:]
        for key in Set(before.keys).union(after.keys) {
            figures[key] = [
                Figure(name: "count", before: before[key]?.count ?? 0, after: after[key]?.count ?? 0),
                Figure(name: "trips", before: before[key]?.trips ?? 0, after: after[key]?.trips ?? 0),
                Figure(name: "storeTime", before: before[key]?.storeTime ?? 0, after: after[key]?.storeTime ?? 0),
            ]
        }
        return figures.ordered(on: \.key.sortText).map { ($0.key, $0.value) }
    }
}

extension Profile {
    /// The duration of the longest operation, in nanoseconds.
    ///
    /// A statement is part of a fetch or a save, unless the program has no such operations.
    package var longestOperation: UInt64 {
        groups.filter { $0.key.kind != .sql || allProcesses.lacks(.operations) }.map(\.durations.maximum).max() ?? 0
    }

    /// The operations to compare: those that are not part of another, or the statements if there is nothing else.
    ///
    /// Faults count together, whatever the source of their data, because a change can move them to another source.
    var operations: [EventGroup] {
        var operations: [EventGroup.Key: EventGroup] = [:]
        for group in groups where ![.cacheMiss, .sql, .use, .scope].contains(group.key.kind) {
            var key = group.key
            key.source = nil
            operations[key, default: EventGroup(key)].merge(group)
        }
        let hasOperations = operations.keys.contains { $0.kind != .wait }
        return (hasOperations ? [] : groups.filter { $0.key.kind == .sql }) + operations.values
    }
}

// MARK: - Evaluation

extension ProfileDiff.Operation {
    /// The counts that decide whether an operation got better or worse, in descending importance.
    ///
    /// Fewer is better.
    private static let decisiveCounts = [
        "errors", "conflicts", "trips", "count", "rows", "prefetchedRows", "bytes", "fullScanSteps", "sorts",
        "automaticIndexes",
    ]

    init(
        _ before: EventGroup?, _ after: EventGroup?, _ time: TimeChange?, traces: (before: UInt64, after: UInt64)
    ) {
        self.before = before
        self.after = after
        var changes: [ProfileDiff.Figure] = []
        for name in Self.decisiveCounts {
            let figure = ProfileDiff.Figure(
                name: name, before: before?.figure(name) ?? 0, after: after?.figure(name) ?? 0)
            if figure.order(traces) != 0 { changes.append(figure) }
        }
        self.changes = changes
        self.time = time
        verdict =
            if before == nil {
                .new
            } else if after == nil {
                .gone
            } else if !changes.isEmpty {
                changes.allSatisfy { $0.order(traces) > 0 }
                    ? .worse : changes.allSatisfy { $0.order(traces) < 0 } ? .better : .traded
            } else {
                switch time?.direction {
                case .slower: .worse
                case .faster: .better
                case .same, nil: .same
                }
            }
    }

    /// The sort key of operations: the change of their trips, the change of their time, and their names.
    fileprivate func weight(_ traces: (before: UInt64, after: UInt64)) -> (Double, Double, String) {
        let change = { (path: KeyPath<EventGroup, UInt64>) -> Double in
            let before = Double(before?[keyPath: path] ?? 0) / Double(traces.before)
            return abs(Double(after?[keyPath: path] ?? 0) / Double(traces.after) - before)
        }
        return (change(\.counts.trips), change(\.totalTime), group?.key.sortText ?? "")
    }
}

extension ProfileDiff.Figure {
    /// The direction of the change per trace, compared exactly: 1 if the figure rose, -1 if it fell, 0 if it stayed.
    package func order(_ traces: (before: UInt64, after: UInt64)) -> Int {
        let old = before.multipliedFullWidth(by: traces.after)
        let new = after.multipliedFullWidth(by: traces.before)
        if (old.high, old.low) == (new.high, new.low) { return 0 }
        return (old.high, old.low) < (new.high, new.low) ? 1 : -1
    }
}

extension EventGroup {
    fileprivate func figure(_ name: String) -> UInt64 {
        if name == "count" { return count }
        guard let field = Counts.fields.first(where: { $0.name == name }) else { return 0 }
        return counts[keyPath: field.path]
    }
}

extension ProfileDiff {
    /// A finding that one side has, or both.
    package struct FindingChange: Sendable {
        /// The state of a finding after the change.
        package enum State: String, Sendable, Hashable, CaseIterable {
            case new, gone, still
        }

        /// `nil` if that side does not have the finding.
        package let before: Finding?
        package let after: Finding?
        /// The state.
        ///
        /// A finding that one side lacks only because of noise is `still` there.
        package let state: State

        /// The finding as it is after, or else as it was before.
        package var finding: Finding? { after ?? before }
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

/// A statement that SQLite runs with a different plan than before.
package struct PlanChange: Sendable, Hashable {
    package let shape: ShapeEntry
    /// The line of the fetch in the later run.
    package let site: CallSite?
    /// The statement's text.
    package let text: String
    /// The plans of each side in alphabetical order.
    ///
    /// The lines of a plan are separated by line feeds.
    package let before: [String]
    package let after: [String]

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
