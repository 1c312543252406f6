internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R13: waits for a context's queue, the coordinator, a connection or SQLite's lock.
///
/// The detector has already excluded waits for work outside the store.
struct WaitRule: Rule {
    let id = "R13"
    let name = "Waits"
    let purpose = "Work that waits for a queue or a lock while other work is in the store."
    let kinds: Set<EventKind> = [.wait, .sql]

    /// The minimum time of a reported wait, in nanoseconds, and its minimum share of a scope.
    static let longWait = Threshold("R13", "longWait", 5_000_000, .time, "minimum time of a single wait")
    static let share = Threshold("R13", "waitShare", 0.1, .share, "minimum share of a scope's time spent waiting")

    /// The waits for SQLite's lock that are few, and their time in nanoseconds, short enough to happen now and then.
    private static let fewWaits: UInt64 = 5
    private static let shortWait = 50_000_000.0

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let waits = profile.waits.filter { Self.isNotable($0.evidence) }
        let usesStore = !profile.allProcesses.lacks(.operations)
        for lines in Self.byOwner(waits) { outcome.findings.append(finding(lines, usesStore: usesStore, profile)) }
        let count = profile.totals.events[.wait] ?? 0
        if count > 0 {
            outcome.examined = "\(count: count, "wait")"
        } else if !usesStore, !profile.allProcesses.lacks(.waits), profile.totals.events[.sql] ?? 0 > 0 {
            outcome.examined = "the waits of \(count: profile.totals.events[.sql] ?? 0, "statement")"
        }
        return outcome
    }

    private static func isNotable(_ evidence: WaitEvidence) -> Bool {
        evidence.longest >= longWait.count || evidence.tries > 0 || evidence.failures > 0
            || (!evidence.scopes.isEmpty && evidence.wallTime > 0
                && Double(evidence.time) >= share.value * Double(evidence.wallTime))
    }

    private typealias Line = (key: WaitEvidence.Key, evidence: WaitEvidence)

    /// The waits of all lines that one change shortens together, the longest first.
    ///
    /// The owner is to change, or else the waiting line: if the owner is unknown, or if a statement failed at once. If one line has
    /// waited for a known owner and for unknown ones, the known one counts for all.
    private static func byOwner(_ waits: [Line]) -> [[Line]] {
        var groups: [WaitEvidence.Key: [Line]] = [:]
        var owners: [WaitEvidence.Key: WaitEvidence.Key] = [:]
        func waiting(_ key: WaitEvidence.Key) -> WaitEvidence.Key { .init(resource: key.resource, site: key.site) }
        for line in waits.ordered(by: { $0.evidence.time > $1.evidence.time }) where line.key.ownerSite != nil {
            var owner = line.key
            if line.evidence.isImpatient {
                owner = waiting(owner)
            } else {
                owner.site = nil
                owners[waiting(line.key)] = owners[waiting(line.key)] ?? owner
            }
            groups[owner, default: []].append(line)
        }
        for line in waits where line.key.ownerSite == nil {
            let owner = line.evidence.isImpatient ? nil : owners[waiting(line.key)]
            groups[owner ?? line.key, default: []].append(line)
        }
        return groups.ordered(on: \.key.sortText).map { group in
            group.value.ordered { ($0.evidence.time, $1.key.sortText) > ($1.evidence.time, $0.key.sortText) }
        }
    }

    private func finding(_ lines: [Line], usesStore: Bool, _ profile: Profile) -> Finding {
        let key = (lines.first { $0.key.ownerSite != nil } ?? lines[0]).key
        let evidence = lines.dropFirst().reduce(into: lines[0].evidence) { $0.merge($1.evidence) }
        let advice = WaitAdvice(key: key, evidence: evidence, usesStore: usesStore)
        let severity = Severity.of(Double(evidence.longest), warning: Self.longWait.value, error: 50_000_000)
        // Threads that wait at the same time cost the run no more than its own time.
        let blocked = Double(min(evidence.blockedTime, profile.knownWallTime ?? .max))
        // The run need not have waited for the threads that waited for SQLite's lock.
        let isForLock = !usesStore && key.resource == .sqlite
        let certain = isForLock ? Double(min(evidence.mainThreadTime, profile.knownWallTime ?? .max)) : blocked
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title,
            change: (advice.isImpatient ? nil : key.ownerSite) ?? key.site,
            // A wait that was given up lost its work.
            severity: evidence.failures > 0 ? max(severity, .error) : severity, fix: advice.fix, code: advice.code,
            // How far the owner's work can be shortened is unknown. Half is a reasonable lower bound.
            saving: Saving(time: Saving.Range(median: max(certain, blocked / 2), low: certain / 2, high: blocked)),
            confidence: .medium("how much shorter the owner's work can get is unknown"),
            signature: [id, "\(key.resource)", key.site?.function ?? "", key.ownerSite?.function ?? ""]
                .joined(separator: "|"))
        if !usesStore { finding.codeLanguage = advice.language }
        let longest = Double(evidence.longest)
        finding.saving.pause = Saving.Range(median: longest, low: longest / 2, high: longest)
        if advice.isImpatient { finding.saving = Saving() }
        finding.seenAt = lines.map { line in
            Finding.Sighting(
                site: line.key.site, count: line.evidence.durations.count, time: line.evidence.durations.total)
        }
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.evidence = [
            Evidence("waits", evidence.durations.count, .count), Evidence("waitTime", evidence.time, .nanoseconds),
            Evidence("blockedTime", evidence.blockedTime, .nanoseconds),
            Evidence("longest", evidence.longest, .nanoseconds),
            Evidence("median", evidence.durations.percentile(50), .nanoseconds),
            Evidence("p95", evidence.durations.percentile(95), .nanoseconds), Evidence("tries", evidence.tries, .count),
            Evidence("failures", evidence.failures, .count), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        if evidence.upgrades > 0 { finding.evidence.append(Evidence("upgrades", evidence.upgrades, .count)) }
        finding.claims = lines.map { line in
            Claim(WaitDetector.self, line.key, balance: Double(line.evidence.blockedTime))
        }
        finding.hasFailures = evidence.failures > 0
        if isForLock, evidence.failures == 0 {
            if advice.takesTurns {
                finding.downgrade("No transaction holds the lock for long, so there is little to shorten.")
            } else if evidence.durations.count < Self.fewWaits, longest < Self.shortWait {
                finding.downgrade(
                    "It is fewer than \(count: Self.fewWaits, "wait"), each shorter than \(duration: Self.shortWait).")
            }
        }
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

extension WaitRule {
    var needs: Set<TraceGap.Kind> { [.waits] }

    var thresholds: [Threshold] {
        [Self.longWait, Self.share]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R13 reports waits of one call site for another: a single wait of at least \(WaitRule.longWait.text), "
                + "waits of at least \(WaitRule.share.text) of a scope's time, or failed attempts to take SQLite's "
                + "lock.",
            evidence:
                "The finding gives the waits, their total, median and longest time, the work of the lock's or queue's "
                + "owner in the meantime with its line, and the number of further attempts to get SQLite's lock.",
            fix:
                "Give long work a context of its own, save in parts, and keep transactions short. If another program "
                + "holds the lock, begin its write transactions with BEGIN IMMEDIATE; Faultline's store needs no change. In other "
                + "programs, a write-ahead log lets readers and a writer work at the same time. If their transactions failed to "
                + "get the lock after they had read, begin them with BEGIN IMMEDIATE. If none of them holds it for long, let one "
                + "connection write instead of several at a time.",
            saving:
                "The saving is between half of the total wait time and all of it. How much the owner's work can be "
                + "shortened is unknown, so the lower bound is an assumption. In a program without an object store, the run need not "
                + "have waited for the threads that waited for SQLite's lock, so only the main thread's waits count for the lower bound.",
            guards: [
                "If a context's queue also runs work outside the store, only the owner's time in the store counts. R13 "
                    + "ignores a wait if the owner spent less than a tenth of it in the store.",
                "A Swift task that awaits a context blocks no thread, so its wait delays its own work alone.",
                "In a program without an object store, waits for SQLite's lock are a note if no transaction had it for long, or if "
                    + "there are fewer than \(Phrase.count(Self.fewWaits)) of less than \(Phrase.duration(Self.shortWait)).",
                "The finding is a note if the waits took less than 1 % of the scopes' time and less than 2 ms.",
            ])
    }
}
