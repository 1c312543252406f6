internal import FaultlineTrace

/// R13: waiting for a context's queue, the coordinator, a connection or SQLite's lock.
///
/// Waits for work that had nothing to do with the store were left out when the events were reduced.
public struct WaitRule: Rule {
    public let id = "R13"
    public let name = "Waits"
    public let purpose = "Work that waits for a queue or a lock while another is in the store."

    /// Nanoseconds of a wait, and the share of a scope, from which on waiting is worth a word.
    static let longWait = Threshold("R13", "longWait", 5_000_000, .time, "that one wait takes")
    static let share = Threshold("R13", "waitShare", 0.1, .share, "of a scope's time that waits take")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        for (key, evidence) in profile.waits where Self.isWorthAWord(evidence) {
            outcome.findings.append(finding(key, evidence))
        }
        let waits = profile.totals.events[.wait] ?? 0
        if waits > 0 { outcome.examined = Phrase.count(waits, "wait") }
        return outcome
    }

    private static func isWorthAWord(_ evidence: WaitEvidence) -> Bool {
        evidence.longest >= longWait.count || evidence.tries > 0 || evidence.failures > 0
            || (!evidence.scopes.isEmpty && evidence.wallTime > 0
                && Double(evidence.time) >= share.value * Double(evidence.wallTime))
    }

    private func finding(_ key: WaitEvidence.Key, _ evidence: WaitEvidence) -> Finding {
        let advice = WaitAdvice(key: key, evidence: evidence)
        let score = Score.of(Double(evidence.longest), info: Self.longWait.value, warning: 50_000_000)
        let blocked = Double(evidence.blockedTime)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.holderSite ?? key.site,
            // Who gave up has lost what was to be done.
            score: evidence.failures > 0 ? max(score, 75) : score, fix: advice.fix, code: advice.code,
            // How much shorter the holder can be made is not known: half is not too much to ask.
            saving: Saving(time: Saving.Range(median: blocked, low: blocked / 2, high: blocked)), confidence: .medium,
            signature: [id, "\(key.resource)", key.site?.function ?? "", key.holderSite?.function ?? ""]
                .joined(separator: "|"))
        let longest = Double(evidence.longest)
        finding.saving.pause = Saving.Range(median: longest, low: longest / 2, high: longest)
        finding.seenAt = [
            Finding.Sighting(site: key.site, count: evidence.durations.count, time: evidence.durations.total)
        ]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("waits", evidence.durations.count, .count), Evidence("waitTime", evidence.time, .nanoseconds),
            Evidence("blockedTime", evidence.blockedTime, .nanoseconds),
            Evidence("longest", evidence.longest, .nanoseconds),
            Evidence("median", evidence.durations.percentile(50), .nanoseconds),
            Evidence("p95", evidence.durations.percentile(95), .nanoseconds), Evidence("tries", evidence.tries, .count),
            Evidence("failures", evidence.failures, .count), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(account: .waits(key), balance: blocked)]
        weigh(&finding, evidence)
        return finding
    }

    private func weigh(_ finding: inout Finding, _ evidence: WaitEvidence) {
        let isLongEnough = Significance.isMet(
            saving: Double(evidence.time), wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        if !isLongEnough, evidence.failures == 0 {
            finding.downgrade(Significance.tooLittle("The waits are") + ".")
        }
        finding.weigh(lossyOccurrences: evidence.lossyWaits, of: evidence.durations.count)
    }
}
