internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R17: results with rows that the program neither uses nor counts.
struct UnusedResultRule: Rule {
    let id = "R17"
    let name = "Unused results"
    let purpose = "Fetches whose results are never used."
    let kinds: Set<EventKind> = [.fetch, .use]

    static let manyRows = Threshold("R17", "manyRows", 20, .count, "minimum unused rows for more than a note")

    var thresholds: [Threshold] { [Self.manyRows] }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            results &+= fetch.total(\.executions)
            // Rows that served other objects have warmed the row cache, which may have been their purpose.
            guard let unused = fetch.unused, !fetch.hasServedOthers else { continue }
            outcome.findings.append(finding(fetch, unused, profile))
        }
        if results > 0 { outcome.examined = "the use of \(count: results, "result")" }
        return outcome
    }

    private func finding(_ fetch: FetchProfile, _ unused: ResultTally, _ profile: Profile) -> Finding {
        let entity = fetch.key.shape.entity
        let isAlways = unused.executions == fetch.closedResults
        let time = Double(unused.time)
        var finding = Finding(
            rule: id, ruleName: name,
            title: isAlways
                ? "Drop the fetch of \(entity: entity), whose result is never used"
                : "Fetch \(entity: entity) only where its result is used",
            change: fetch.key.site,
            severity: Severity.of(Double(unused.rows), warning: Self.manyRows.value, error: 1000),
            fix: isAlways
                ? "The program reads none of its rows, and never asks for their number."
                : "Make it lazily, or only after the condition that decides whether its result is used.",
            saving: Saving(time: Saving.Range(median: time, low: time, high: time)), confidence: .high,
            signature: fetch.signature(id, "unused"))
        finding.saving.trips = Int64(clamping: unused.executions)
        finding.saving.rows = Int64(clamping: unused.bytes > 0 ? unused.rows : 0)
        finding.saving.bytes = Int64(clamping: unused.bytes)
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = [
            isAlways
                ? "\(count: unused.executions, "result") had \(rows: unused.rows) in all, and none was read."
                : "Of \(count: fetch.closedResults, "result"), \(count: unused.executions) with \(rows: unused.rows) "
                    + "in all \(unused.executions == 1 ? "was" : "were") not used."
        ]
        finding.evidence = [
            Evidence("executions", unused.executions, .count), Evidence("results", fetch.closedResults, .count),
            Evidence("rows", unused.rows, .rows), Evidence("bytes", unused.bytes, .bytes),
            Evidence("fetchTime", unused.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        let isLongEnough = Significance.isMet(
            saving: time, wallTime: profile.wallTime(of: fetch.counts.scopes.keys), isMainThread: fetch.isOnMainThread)
        finding.weigh(
            isLongEnough: isLongEnough,
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded)
                || Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips),
            of: "rows and trips")
        return finding
    }
}

extension FetchProfile {
    /// The number of results with rows whose end the trace has.
    var closedResults: UInt64 {
        uses.values.reduce(0) { $0 &+ $1.needs.values.reduce(0) { $0 &+ $1.executions } }
    }

    /// The unused results, if they are at least half of all.
    var unused: ResultTally? {
        var unused = ResultTally()
        for use in uses.values { if let tally = use.needs[.nothing] { unused.merge(tally) } }
        return unused.executions > 0 && Significance.isAtLeastHalf(unused.executions, of: closedResults) ? unused : nil
    }
}

extension UnusedResultRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R17 reports results whose rows the program neither read nor counted, if they are at least half of all "
                + "results of their line.",
            evidence: "The finding gives the results, the unused ones, and their rows, bytes and time.",
            fix: "Drop the fetch, or move it to where its result is used.",
            saving: "The saving is the total time of the fetches whose results are unused.",
            guards: [
                "R17 ignores a fetch whose rows served faults on objects of other fetches from the row cache, because "
                    + "that may have been its purpose.",
                "It ignores results that the program still holds at the end.",
                "The finding is a note if it saves little time and less than a fifth of all rows and trips.",
            ])
    }
}
