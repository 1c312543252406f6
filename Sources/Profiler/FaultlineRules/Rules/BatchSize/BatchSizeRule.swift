internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R02: results that are loaded all at once, or in batches that do not match how many rows the program uses at a time.
struct BatchSizeRule: Rule {
    let id = "R02"
    let name = "Batch size"
    let purpose = "Batches much larger or smaller than what the program uses at a time."
    let kinds: Set<EventKind> = [.fetch, .batch, .use]

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        var withoutWindows: UInt64 = 0
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            let executions = fetch.total(\.executions)
            results &+= executions
            guard let (_, use) = fetch.mainUse else { continue }
            if use.windows.isEmpty { withoutWindows &+= use.executions }
            if let demand = BatchDemand(of: fetch, profile, costs) {
                outcome.findings.append(finding(for: demand, profile, costs))
            }
        }
        let runs = profile.batchRuns
        outcome.findings += runs.compactMap { finding(for: $0.evidence, $0.key, profile, costs) }
        let batches = runs.reduce(0) { $0 &+ $1.evidence.executions }
        if batches > 0 { outcome.examined = "\(count: batches, "consecutive batch", plural: "consecutive batches")" }
        if results > 0 { outcome.examined = "the use of \(count: results, "result")" }
        let fetched = profile.totals.events[.fetch, default: 0]
        if fetched > 0, results == 0, runs.isEmpty {
            outcome.obstacles.append("The trace does not show which rows of the fetched results were used.")
        }
        if withoutWindows > 0 {
            outcome.obstacles.append(
                "\(count: withoutWindows, "result") had no rows read, so no batch size can be evaluated."
            )
        }
        return outcome
    }

    private func finding(for demand: BatchDemand, _ profile: Profile, _ costs: CostModel) -> Finding {
        switch demand {
        case .lost(let lost): finding(for: lost, profile, costs)
        case .screens(let screens): screens.finding(rule: self, profile, costs)
        case .bulk(let bulk, let curve): bulk.finding(rule: self, curve, profile, costs)
        }
    }
    static func signature(_ fetch: FetchProfile.Key) -> String {
        ["R02", fetch.shape.entity, SignatureText.shape(fetch.shape), fetch.site?.function ?? ""].joined(separator: "|")
    }

    static func seenAt(_ use: ResultUse) -> [Finding.Sighting] {
        use.loadSites.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .ordered { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
    }
}

extension BatchSizeRule {
    private func finding(for lost: LostBatches, _ profile: Profile, _ costs: CostModel) -> Finding {
        let (use, fetch, unread) = (lost.use, lost.fetch, lost.unread)
        let estimate = costs.rows(of: fetch.shape)
        let saving = estimate.range { $0.cost(trips: lost.batches, rows: unread) }
        let places = Self.seenAt(use)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Read rows of \(entity: fetch.shape.entity) from the result, not from a copy of it",
            change: places.first?.site ?? fetch.site,
            severity: Severity.of(unread / Double(max(1, use.materialisedRowsRead)), warning: 1, error: 10),
            fix: "Keep the \(code: "FetchResults") and index into it. Making an array of it loads every batch.",
            saving: Saving(time: Saving.Range(saving)),
            confidence: min(.medium("other code may need the batches"), estimate.confidence),
            signature: Self.signature(fetch) + "|lost")
        finding.saving.trips = Int64(saturating: lost.batches)
        finding.saving.rows = Int64(saturating: unread)
        finding.saving.memory =
            use.loadedRows > 0 ? Int64(saturating: unread * Double(use.bytes) / Double(use.loadedRows)) : 0
        finding.seenAt = places
        finding.scopes = use.loadScopes.names
        finding.evidence = [
            Evidence("executions", use.materialised, .count), Evidence("rows", use.materialisedRows, .rows),
            Evidence("rowsRead", use.materialisedRowsRead, .rows), Evidence("batchSize", lost.size, .rows),
        ]
        finding.explanation = [
            "All \(rows: use.materialisedRows) of \(count: use.materialised, "result") were loaded in one pass, "
                + "\(count: lost.size, of: .rows) at a time, but properties of only "
                + "\(count: use.materialisedRowsRead, of: .rows) were read."
        ]
        finding.claims = [Claim.loads(fetch, profile)]
        if !Significance.isMet(saving: saving.median, wallTime: profile.wallTime, isMainThread: use.mainThreadLoads > 0)
        {
            finding.downgrade(Significance.tooLittle(of: "the recorded time") + ".")
        }
        return finding
    }
}

extension BatchSizeRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var thresholds: [Threshold] {
        [
            BatchDemand.minimumExecutions, BatchDemand.minimumRows, BatchRunDetector.minimumBatches,
            UsePattern.minimumWindows, BulkBatches.memoryLimit,
            BulkBatches.threshold, BatchCurve.equality, ScreenBatches.minimumMemory, ScreenBatches.wastedShare,
            ScreenBatches.frame,
        ]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R02 evaluates a fetch once the program has read rows of \(BatchDemand.minimumExecutions.count) results, "
                + "\(BatchDemand.minimumRows.count) rows, or \(UsePattern.minimumWindows.count) screens. On screens, it reports a batch "
                + "size below one screen or above two, or no batch size for results of more than three screens. In bulk work, it reports a "
                + "size that costs \(BulkBatches.threshold.text) times as much as the best one, or batches of more than "
                + "\(BulkBatches.memoryLimit.text). It also reports batched results whose rows were all loaded in one pass, most of them "
                + "unread.",
            evidence:
                "The finding gives the rows that matched, were loaded and were read; the number of rows that 95 % of "
                + "the screens do not exceed; and, for each batch size, the cost of one batch and the total cost of "
                + "loading the rows that were used.",
            fix:
                "For screens, set a batch size of one and a half screens, rounded up to a multiple of five, at most "
                + "100. For bulk work, set the largest size that costs at most \(BatchCurve.equality.text) times the "
                + "least and takes little memory, or no batches if fewer than \(Phrase.count(FetchProfile.manyRows.count)) rows are fetched "
                + "and all are used. The same criterion holds for scattered reads: set small batches if few rows are "
                + "read, and load all rows in one trip if many are. Or fetch just those rows.",
            saving:
                "On screens, the saving is the shorter wait per screen. In bulk work, it is the cost at the current "
                + "size minus the cost at the advised size, from the fitted cost per trip and per row. What SQLite "
                + "scans and sorts is not saved, because fetching the IDs needs it as well.",
            guards: [
                "Logs do not show the use of results. In them, R02 reports at least "
                    + "\(Phrase.count(BatchRunDetector.minimumBatches.count)) batches that follow one another without a pause, if "
                    + "larger ones cost less.",
                "Without scopes of kind screen, pauses between touched rows stand in for screens, and the finding "
                    + "says so.",
                "Results that are only counted, summed or partly read belong to R03 and R05, and unused results to R17.",
                "Rows that a results controller reads only to build sections do not count as used. R02 ignores a batched result that "
                    + "other code loads in full.",
                "The finding is a note if the current and the advised size cost about the same and the waits are equally long.",
                "If the program changes the rows, their objects stay in memory, so that no size saves memory.",
                "The finding is a note if it saves little time, little memory and less than a third of the rows.",
            ])
    }
}
