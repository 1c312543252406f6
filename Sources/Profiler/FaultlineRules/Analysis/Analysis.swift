package import FaultlineFindings
public import FaultlineProfile
internal import FaultlineTrace

/// The findings of a trace: the advice, the trace's quality, and the checks that were made.
///
///     let analysis = Analysis(profile)
///     for finding in analysis.findings { print(finding.title) }
///
/// Equal profiles give equal analyses.
public final class Analysis: Sendable {
    /// The analyzed profile.
    package let profile: Profile
    package let costs: CostModel
    /// How far the trace can be trusted.
    ///
    /// Reports print this finding before all others.
    package let quality: Finding?
    /// The advice: errors first, then warnings, then notes, each sorted by saving and confidence.
    package let findings: [Finding]
    /// The data that each rule examined, and its findings.
    package let checks: [RuleCheck]
    /// Operations that take much of the run, and that no finding explains, the longest first.
    package let unexplained: [UnexplainedWork]

    /// Evaluates all rules on a profile.
    public convenience init(_ profile: Profile) { self.init(profile, rules: nil) }

    /// Analyzes a profile.
    ///
    /// The rules use the thresholds the profile was made with, unless ``Thresholds/apply(_:)`` puts others in force.
    ///
    /// - Parameters:
    ///   - examinations: SQLite's answers about indexes for the statements of the profile.
    ///   - rules: The rules to evaluate. The default is all of them.
    package init(
        _ profile: Profile, knowing examinations: IndexExaminations = IndexExaminations(), rules: [any Rule]? = nil
    ) {
        let rules = rules ?? Rules.all(knowing: examinations)
        let thresholds = Thresholds.inForce == Thresholds() ? profile.thresholds : Thresholds.inForce
        let frequent = Set(rules.filter(\.isAboutFrequency).map(\.id))
        self.profile = profile
        // What recordings had by other thresholds, or before SQLite was asked, says nothing about this analysis.
        let counted = thresholds == profile.thresholds ? rules.filter { !$0.asksSQLite || examinations.isEmpty } : []
        let mean = profile.mean
        (costs, checks, quality, findings) = thresholds.apply {
            Self.evaluate(rules, frequent, counted, on: mean, of: profile)
        }
        // A rule that gives way says where time is spent, and not why.
        let vague = Set(rules.filter(\.givesWay).map(\.id))
        unexplained = UnexplainedWork.all(
            mean, examinations,
            causes: findings.filter { !vague.contains($0.rule) && !frequent.contains($0.rule) },
            frequency: findings.filter { frequent.contains($0.rule) })
    }

    /// - Parameters:
    ///   - profile: One recording, or the mean of all.
    ///   - whole: The sum of all recordings.
    private static func evaluate(
        _ rules: [any Rule], _ frequent: Set<String>, _ counted: [any Rule], on profile: Profile, of whole: Profile
    ) -> (CostModel, [RuleCheck], quality: Finding?, advice: [Finding]) {
        let costs = CostModel(profile)
        var found: [Finding] = []
        var checks: [RuleCheck] = []
        let gaps = whole.allProcesses.gaps
        let hasOperations = !gaps.contains { $0.kind == .operations }
        // A rule that gives way drops its findings at lines for which another rule has advice.
        let outcomes = rules.map { rule in
            // The quality of a sum is that of all its recordings.
            (rule, rule.evaluate(rule.id == TraceQualityRule.number ? whole : profile, costs: costs))
        }
        let taken = Set(
            outcomes.filter { !$0.0.givesWay }.flatMap(\.1.findings).filter { $0.severity > .note }
                .flatMap { [$0.change] + $0.seenAt.map(\.site) }.compactMap { $0 })
        for (rule, outcome) in outcomes {
            var outcome = outcome
            let needs = hasOperations ? rule.needs : rule.needsOfStatements
            if rule.givesWay { outcome.findings.removeAll { $0.change.map { taken.contains($0) } ?? false } }
            found += outcome.findings.map { finding in
                var finding = finding
                finding.describeBasis(rule.kinds)
                finding.evidence.removeAll { isUnknown($0, in: profile) }
                return finding
            }
            checks.append(
                RuleCheck(
                    rule: rule.id, name: rule.name, examined: outcome.examined, obstacles: outcome.obstacles,
                    findings: outcome.findings.count,
                    gaps: gaps.filter { !needs.isDisjoint(with: $0.kind.missing) }))
        }
        let quality = found.first { $0.rule == TraceQualityRule.number }
        var advice = found.filter { $0.rule != TraceQualityRule.number }
        // Counts that rules took per occasion are compared with the scopes, which all rules share.
        let scopes = Dictionary(grouping: profile.scopes, by: \.key.name)
        for index in advice.indices {
            let own = advice[index].scopes.flatMap { scopes[$0] ?? [] }
            advice[index].weigh(
                lossyOccurrences: own.reduce(0) { $0 &+ $1.lossy }, of: own.reduce(0) { $0 &+ $1.count })
        }
        let totals = profile.totals
        let run = profile.knownWallTime ?? 0
        for index in advice.indices {
            advice[index].rate(by: run)
            // The cost of a scan grows with the table, so that it can matter later. The same is true of an application with a store.
            if !hasOperations, frequent.contains(advice[index].rule) { advice[index].waive(in: run) }
        }
        advice = self.counted(advice, counted, in: whole)
        // The time between the runs of one statement can be that of another.
        let betweenRuns = profile.statementLoops.reduce(0) { $0 + Double($1.evidence.overhead) }
        let storeTime = Double(totals.storeTime) + Double(profile.statementPreparation)
        let spentTime = storeTime + betweenRuns
        var findings = ranked(
            advice,
            storeTime: run > 0 ? min(spentTime, max(storeTime, Double(run))) : spentTime,
            lossShare: whole.lossShare)
        for index in findings.indices where run > 0 {
            findings[index].share = min(1, findings[index].ownSaving.median * findings[index].weight / Double(run))
        }
        return (costs, checks, quality, findings)
    }

    /// Whether a figure is 0 only because the trace does not have what it sums up.
    private static func isUnknown(_ evidence: Evidence, in profile: Profile) -> Bool {
        guard evidence.value == 0 else { return false }
        return switch evidence.unit {
        case .nanoseconds:
            profile.totals.storeTime == 0
                && (profile.allProcesses.lacks(.shortDurations) || profile.groups.contains { $0.untimed > 0 })
        case .rows: profile.allProcesses.lacks(.rows)
        case .bytes: profile.allProcesses.lacks(.sizes)
        case .count, .trips, .share: false
        }
    }

    static func ranked(_ findings: [Finding], storeTime: Double, lossShare: Double) -> [Finding] {
        var findings = findings
        if lossShare > 0, lossShare >= TraceQualityRule.lossLimit.value {
            for index in findings.indices {
                findings[index].downgrade(
                    "\(percent: lossShare) of the events were lost, and they may contradict this finding.")
            }
        }
        return reordered(claim(order(findings), storeTime: storeTime))
    }

    /// Orders findings again, by the savings that are left after those of earlier findings.
    ///
    /// The numbers by which they refer to each other follow the new order.
    private static func reordered(_ findings: [Finding]) -> [Finding] {
        let positions = findings.indices.ordered { isBefore(findings[$0], findings[$1]) }
        let numbers = Dictionary(uniqueKeysWithValues: positions.enumerated().map { ($1 + 1, $0 + 1) })
        return positions.map { position in
            var finding = findings[position]
            finding.saving.after = finding.saving.after.compactMap { numbers[$0] }.sorted()
            return finding
        }
    }

    private static func order(_ findings: [Finding]) -> [Finding] { findings.ordered(by: isBefore) }

    private static func isBefore(_ a: Finding, _ b: Finding) -> Bool {
        if a.severity != b.severity { return a.severity > b.severity }
        return (a.rank, b.signature) > (b.rank, a.signature)
    }

    /// Allots the time that was spent to the findings in order, so no time is saved twice.
    ///
    /// A finding for which too little time is left keeps the saving of its change alone, and names the findings that
    /// come first.
    private static func claim(_ findings: [Finding], storeTime: Double) -> [Finding] {
        var left = storeTime
        var balances: [Claim.Account: Double] = [:]
        var takers: [Claim.Account: [Int]] = [:]
        return findings.enumerated().map { index, finding in
            var finding = finding
            var seen: Set<Claim.Account> = []
            let claims = finding.claims.filter { seen.insert($0.account).inserted }
            for claim in claims where balances[claim.account] == nil { balances[claim.account] = claim.balance }
            // The evidence of a finding that the mean does not show has no account in it.
            let claimed = finding.isBeyondMean ? .infinity : claims.reduce(0) { $0 + (balances[$1.account] ?? 0) }
            let available = min(left / finding.weight, claimed)
            let others = Set(claims.flatMap { takers[$0.account] ?? [] }).sorted()
            if finding.saving.time.median > max(0, available), !others.isEmpty {
                finding.saving.alone = finding.saving.time.limited(to: claims.reduce(0) { $0 + $1.balance })
                finding.saving.after = others
            }
            // The waits are part of the same time.
            if finding.saving.pause != nil { finding.saving.after = others }
            finding.saving.time = finding.saving.time.limited(to: max(0, available))
            var rest = finding.saving.time.median
            left -= rest * finding.weight
            for claim in claims {
                let taken = min(rest, balances[claim.account] ?? 0)
                balances[claim.account, default: 0] -= taken
                rest -= taken
                if taken > 0 { takers[claim.account, default: []].append(index + 1) }
            }
            return finding
        }
    }
}
