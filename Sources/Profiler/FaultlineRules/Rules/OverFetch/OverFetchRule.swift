internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R03: rows that are loaded but not used, objects that are used only for their identity, and long values that are
/// never read.
///
/// R02 reports what a batch size fixes, R05 rows that are counted, and R09 values of many kilobytes.
struct OverFetchRule: Rule {
    let id = "R03"
    let name = "Over-fetch"
    let purpose = "Rows or values that fetches load and the program never uses."
    let kinds: Set<EventKind> = [.fetch, .batch, .use]

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        let values = UnreadValues(profile)
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            results &+= fetch.total(\.executions)
            // Rows that need not be loaded at all are reported instead of their values.
            let found = rows(of: fetch, profile, costs) ?? values.finding(of: fetch, rule: self, profile, costs)
            if let found { outcome.findings.append(found) }
        }
        if results > 0 { outcome.examined = "the use of \(count: results, "result")" }
        return outcome
    }

    private static func saving(
        _ waste: UnusedRows, _ estimate: CostModel.Estimate, _ identity: CostLine, _ fetch: FetchProfile,
        _ machine: MachineCosts
    ) -> (median: Double, low: Double, high: Double) {
        let counts = fetch.counts
        // With a limit, SQLite returns fewer rows, but still reads them all if it must sort them first.
        let sorted =
            if case .first = waste.kind, counts.statements > 0 {
                min(1, Double(counts.sorts) / Double(counts.statements))
            } else {
                0.0
            }
        if counts.isSplit, counts.scannedRows > 0, let saving = scanned(waste, fetch, machine, isSorted: sorted > 0) {
            return saving
        }
        // With a limit, the sorter does not carry the columns of rows behind it.
        let carried = sorted > 0 ? WideSort.time(beyond: estimate, of: fetch) : .none
        let spared = Double(waste.rows) / Double(max(1, waste.tally.rows))
        return estimate.range(
            usual: (left: CostModel.sortedRow, carried: carried.usual),
            least: (left: CostModel.sortedRows.upperBound, carried: carried.least),
            most: (left: CostModel.sortedRows.lowerBound, carried: carried.most)
        ) { line, sorting in
            let row = waste.kind == .identities ? max(0, line.row - identity.row) : line.row
            return Double(waste.rows) * row * (1 - sorted * sorting.left) + spared * sorting.carried
        }
    }

    /// The assumed time to find an object ID in a scan, in nanoseconds.
    private static let identity = StepCost(usual: 150, least: 50, most: 300)
    /// The ratio of a scan for identities to a scan for the rows.
    private static let scans = 0.9...1.2

    /// The saving if SQLite scans the table, or `nil` if the number of rows gives a better estimate.
    private static func scanned(
        _ waste: UnusedRows, _ fetch: FetchProfile, _ machine: MachineCosts, isSorted: Bool
    ) -> (median: Double, low: Double, high: Double)? {
        let (counts, scan) = (fetch.counts, fetch.scanTime(machine))
        let identity = machine.cost(.identity, assumed: Self.identity)
        let tally = waste.tally
        let part = Double(tally.executions) / Double(max(1, counts.executions))
        let time = max(0, Double(tally.time) - counts.prepareTime(of: tally.executions))
        let trips = CostModel.assumed.trip * Double(tally.executions)
        switch waste.kind {
        case .first where !isSorted:
            // SQLite stops at the last row within the limit.
            let saved = max(0, time - trips) * Double(waste.rows) / Double(max(1, tally.rows))
            return (saved, saved, saved)
        case .identities where tally.rows > 0:
            let keptTrips = CostModel.emptyTrip * Double(tally.executions)
            // If the scan dominates, the rest of the time is uncertain. The rows cost at most this.
            let most =
                scan.usual < counts.runTime / 2
                ? time
                : trips + Double(waste.rows) * CostModel.assumed.row + Double(tally.bytes) * CostModel.assumedByte
            let saved = { (scan: Double, identity: Double, factor: Double) in
                min(
                    factor * most,
                    max(0, time - keptTrips - part * scan - Double(waste.rows) * identity))
            }
            return (
                saved(scan.usual, identity.usual, 1), saved(scans.upperBound * scan.most, identity.most, 0.4),
                saved(scans.lowerBound * scan.least, identity.least, 2.5)
            )
        case .first, .identities, .scattered, .chosen: return nil
        }
    }

    private func rows(of fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        guard let waste = UnusedRows(of: fetch, profile, costs) else { return nil }
        let estimate = costs.rows(of: fetch.key.shape)
        let saving = Self.saving(waste, estimate, costs.identities(of: fetch.key.shape).line, fetch, costs.machine)
        var finding = Finding(
            rule: id, ruleName: name, title: waste.title, change: fetch.key.site,
            severity: Severity.of(waste.figure, warning: 1, error: waste.isChosen ? .infinity : 20), fix: waste.fix,
            code: waste.code,
            saving: Saving(time: Saving.Range(saving)),
            confidence: min(
                .medium(
                    waste.isChosen ? "the trace does not show why the values were read" : "other runs may use more rows"
                ),
                estimate.confidence),
            signature: fetch.signature(id, waste.what))
        finding.saving.rows = Int64(clamping: waste.rows)
        finding.saving.bytes = Int64(saturating: waste.bytes)
        finding.saving.memory = Int64(saturating: waste.bytes / Double(waste.tally.executions))
        finding.seenAt = fetch.readers
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = waste.explanation
        finding.evidence = [
            Evidence("executions", waste.tally.executions, .count), Evidence("rows", waste.tally.rows, .rows),
            Evidence("touchedRows", waste.tally.touchedRows, .rows),
            Evidence("mostTouched", waste.tally.mostTouched, .rows), Evidence("bytes", waste.tally.bytes, .bytes),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = waste.remedy(for: fetch.key)
        let isLongEnough = Significance.isMet(
            saving: saving.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        finding.weigh(
            isLongEnough: isLongEnough,
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded),
            of: "rows")
        return finding
    }
}

extension OverFetchRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var thresholds: [Threshold] {
        [
            ResultDemand.share, ResultDemand.minimumExecutions, ResultDemand.minimumRowsFetched,
            ResultDemand.touchedShare, UnreadValues.share, UnreadValues.minimumSize,
        ]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R03 reports at least \(ResultDemand.minimumExecutions.text) results of one line, with "
                + "\(ResultDemand.minimumRowsFetched.text) rows in all, if the program used only the first few or at "
                + "most \(ResultDemand.touchedShare.text) of the rows, or used only the object IDs. It also reports "
                + "results of at least \(Phrase.count(UnusedRows.minimumChoice)) rows that the program filters or sorts itself: it reads "
                + "one property of every row, and others of at most \(Phrase.percent(UnusedRows.chosenShare)) of the rows, or up to three "
                + "properties, and others of at most \(Phrase.percent(UnusedRows.chosenBySeveral)). Long values, "
                + "at least \(UnreadValues.share.text) of a row and \(UnreadValues.minimumSize.text), are reported if no fetch of that "
                + "shape reads them.",
            evidence:
                "The finding gives the results, their rows, the rows that were used, the most rows used of one result, "
                + "and the bytes; for values, the unread bytes.",
            fix:
                "Set a limit, select the used rows in the predicate, fetch object IDs instead of objects, or move the "
                + "values into an entity of their own.",
            saving:
                "The saving is the cost per row of the unused rows. If SQLite scans the table for them, the limit "
                + "saves that part of the scan as well; if SQLite sorts the rows itself, about half of their cost "
                + "remains. For values, it is the part of the loading time that their bytes and pages took; if SQLite "
                + "also scans or sorts other rows, it is the cost of the bytes in all of these rows.",
            guards: [
                "Lists that scroll use more than their first rows over time, and belong to R02.",
                "Results that the program still holds at the end may be used later, so at least 90 % must have been released.",
                "An object may have been read in ways that are not recorded, so unread values "
                    + "count only if at least 90 % of the rows were read.",
                "The finding is a note if it saves little time and less than a fifth of all rows.",
            ])
    }
}
