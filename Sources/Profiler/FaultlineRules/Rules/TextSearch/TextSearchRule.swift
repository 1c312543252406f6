internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R08: text comparisons that no index serves, so SQLite reads every row.
struct TextSearchRule: Rule {
    let id = "R08"
    let name = "Text search without an index"
    let purpose = "Text searches that no index can serve."
    let kinds: Set<EventKind> = [.fetch, .sql]
    let asksSQLite = true

    /// The minimum scanned rows, or the minimum number of fetches, of a reported search.
    static let minimumSteps = Threshold("R08", "minimumSteps", 1000.0, .count, "minimum steps of a search")
    static let minimumExecutions = Threshold(
        "R08", "minimumExecutions", 20, .count, "minimum number of shorter searches")
    /// The maximum rows that another term leaves to a search that is not worth changing.
    static let fewCandidates = Threshold(
        "R08", "fewCandidates", 200.0, .count, "maximum rows left by another term that make a search a note")
    /// The virtual machine operations for a row that an index found and a function compared, and for a returned row,
    /// without its columns.
    static let stepsPerCandidate = 6.0
    static let stepsPerRow: UInt64 = 2

    let examinations: IndexExaminations

    init() { self.init(knowing: IndexExaminations()) }

    /// - Parameter examinations: With the full-text tables of the database.
    init(knowing examinations: IndexExaminations) { self.examinations = examinations }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        var unrecorded: UInt64 = 0
        var unmeasured: UInt64 = 0
        for fetch in profile.fetches where !fetch.key.shape.predicate.isEmpty {
            examined &+= fetch.counts.executions
            guard let terms = fetch.key.shape.terms else {
                unrecorded &+= fetch.counts.executions
                continue
            }
            let searched = terms.filter { TextSearchRemedy($0) != nil }
            guard !searched.isEmpty else { continue }
            let measured = Self.candidates(fetch, profile) == nil ? 0 : fetch.counts.statements
            unmeasured &+= fetch.counts.executions - min(fetch.counts.executions, measured)
            if let finding = finding(for: fetch, searched, profile, costs) { outcome.findings.append(finding) }
        }
        if examined > 0 {
            outcome.examined = "the predicates of \(count: examined, "fetch", plural: "fetches")"
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the conditions of \(count: statements, "statement")"
        }
        outcome.findings += statements(profile)
        if unrecorded > 0 {
            outcome.obstacles.append(
                "The trace does not show what \(count: unrecorded, "fetch", plural: "fetches") compared.")
        }
        if unmeasured > 0 {
            outcome.obstacles.append(
                "The trace does not show how many rows \(count: unmeasured, "search", plural: "searches") examined."
            )
        }
        return outcome
    }

    /// The mean number of rows whose text a search of this fetch compared, and whether an index or a cheaper term had
    /// narrowed them.
    static func candidates(_ fetch: FetchProfile, _ profile: Profile) -> (rows: Double, isNarrowed: Bool)? {
        let counts = fetch.counts
        guard counts.statements > 0 else { return nil }
        let statements = Double(counts.statements)
        if counts.textComparisons > 0 {
            // Several searches compare a row's texts several times.
            let compared = Double(counts.textComparisons) / statements
            let scanned = counts.scannedRows
            return scanned > 0 ? (min(compared, scanned), compared < scanned) : (compared, true)
        }
        // The counter does not include the first row of a scan.
        guard counts.fullScanSteps == 0 else { return (Double(counts.fullScanSteps) / statements + 1, false) }
        // The trace does not have the counters.
        guard counts.virtualMachineSteps > 0 else { return nil }
        // Returning rows takes steps too: one for each column.
        let columns = UInt64(profile.entity(fetch.key.shape.entity)?.properties.count ?? 0) &+ stepsPerRow
        let isCount = fetch.key.shape.resultType == "count"
        let handedOut = isCount ? 0 : Double(counts.rows &* columns)
        let steps = max(Double(counts.virtualMachineSteps) - handedOut, 0)
        return (max(steps / stepsPerCandidate, isCount ? 0 : Double(counts.rows)) / statements, true)
    }

    private func finding(
        for fetch: FetchProfile, _ terms: [ShapeEntry.Term], _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let counts = fetch.counts
        let candidates = Self.candidates(fetch, profile)
        let gone = (candidates?.rows ?? 0) * Double(counts.statements)
        guard counts.executions > 0,
            gone >= Self.minimumSteps.value || counts.executions >= Self.minimumExecutions.count
                || candidates == nil && Self.isLong(counts)
        else {
            return nil
        }
        let isKeysOnly = fetch.key.shape.resultType != "objects" || (fetch.mainUse?.size ?? 0) > 0
        let rows = fetch.key.shape.resultType == "count" ? 0 : Double(counts.rows)
        let estimate = costs.store
        // The first searches read pages that later ones find in memory.
        let typical = fetch.typicalShare
        let searching = estimate.range(usual: typical, least: typical, most: 1) { line, share in
            // If SQLite's part is known, waiting and making objects are excluded. The rows that match must be sought
            // and returned in any case.
            if counts.isSplit {
                return share * counts.runTime - Double(counts.rows) * min(line.row, CostModel.assumed.row)
            }
            return share * Double(counts.time)
                - line.cost(trips: Double(counts.executions), rows: isKeysOnly ? rows / 4 : rows)
        }
        let isCounted = counts.textComparisons > 0
        let saving = isCounted && candidates?.isNarrowed == true ? comparing(gone, counts, searching) : searching
        let advice = TextSearchAdvice(
            fetch: fetch, terms: terms, candidates: candidates?.rows, profile: profile)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: Severity.of(candidates?.rows ?? Self.assumedRows(counts), warning: 500, error: 50_000),
            fix: advice.fix,
            code: advice.code,
            saving: Saving(time: Saving.Range(saving)),
            confidence: min(.medium("the cost of the other search is unknown"), estimate.confidence(in: saving)),
            signature: fetch.signature(id, advice.properties.text))
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("rows", counts.rows, .rows),
            Evidence("fullScanSteps", counts.fullScanSteps, .count),
            Evidence("virtualMachineSteps", counts.virtualMachineSteps, .count),
            Evidence("textComparisons", counts.textComparisons, .count),
            Evidence("candidates", candidates?.rows ?? 0, .rows), Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        weigh(&finding, fetch, candidates, profile)
        return finding
    }

    /// The time to compare a number of texts if a cheaper term leaves few of them, in nanoseconds.
    ///
    /// The scan of that term remains.
    private func comparing(
        _ texts: Double, _ counts: FetchCounts, _ most: (median: Double, low: Double, high: Double)
    ) -> (median: Double, low: Double, high: Double) {
        let range = TextSearchCost.range
        return (
            min(most.median, texts * TextSearchCost.usual), min(most.low, texts * range.lowerBound),
            min(most.high, texts * range.upperBound)
        )
    }

    private func weigh(
        _ finding: inout Finding, _ fetch: FetchProfile, _ candidates: (rows: Double, isNarrowed: Bool)?,
        _ profile: Profile
    ) {
        if let candidates, candidates.isNarrowed, candidates.rows <= Self.fewCandidates.value {
            finding.downgrade(
                "Another term leaves only about \(decimal: candidates.rows, places: 0, of: .rows) rows to search, "
                    + "which takes little time."
            )
        }
        // The search grows with the table, whatever it costs now.
        if !Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        {
            finding.reservations.append(Significance.notProven)
        }
    }
}

extension TextSearchRule {
    var needs: Set<TraceGap.Kind> { [.statements, .operations] }
    var needsOfStatements: Set<TraceGap.Kind> { [.statements, .counters] }

    var thresholds: [Threshold] {
        [Self.minimumSteps, Self.minimumExecutions, Self.fewCandidates]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R08 reports a comparison of texts that no index can serve (CONTAINS, ENDSWITH, MATCHES, LIKE with a "
                + "leading wildcard, and any that ignores case or diacritics), if its fetches examined at least "
                + "\(Phrase.decimal(TextSearchRule.minimumSteps.value, places: 0)) rows in all or ran at least "
                + "\(TextSearchRule.minimumExecutions.count) times. In a program without an object store, it reports "
                + "statements whose condition compares a column with a pattern (LIKE, GLOB) and no column with one "
                + "value, if each run steps over at least "
                + "\(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows.",
            evidence:
                "The finding gives the fetches, the rows that they examined by SQLite's counters, the rows that they "
                + "returned, and the time.",
            fix: "Keep the words of the text in rows of their own and search for their beginnings; keep an indexed "
                + "copy without case and diacritics, or a reversed one; or search with a plain prefix. In SQL, search a "
                + "full-text table (FTS5).",
            saving:
                "The saving is SQLite's time for the searches, minus the cost of the rows that they returned. If a "
                + "cheaper term keeps texts from being compared, it is about \(Phrase.duration(TextSearchCost.usual)) "
                + "for each text that is compared.",
            guards: [
                "The finding is a note if another term leaves at most "
                    + "\(Phrase.decimal(TextSearchRule.fewCandidates.value, places: 0)) rows.",
                "R08 ignores copies that the store already folds (canonical attributes).",
                "On little data the finding stays a warning, because its cost grows with the table, and says that the "
                    + "cost is not proven at this size.",
            ])
    }
}

/// The findings about statements of programs without an object store.
extension TextSearchRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.statementScans.compactMap { finding($0.key, $0.evidence) }.joined("The full-text index")
    }

    /// A statement that compares a column of every row with a pattern, and finds few rows.
    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard perRun >= FetchIndexing.minimumRows.value, steps >= Self.minimumSteps.value,
            steps >= FetchIndexing.stepsPerRow.value * rows
        else { return nil }
        let text = StatementText(unwrapping: key.sql)
        // With an index on another column, SQLite would compare few texts.
        guard let table = text.table, let search = text.search, text.comparedColumn == nil, !text.isOfSQLite,
            evidence.mayScan(table, of: text)
        else { return nil }
        let advice = StatementSearchAdvice(
            text: text, table: table, search: search, evidence: evidence,
            existing: examinations.fullTextTables[table.lowercased()],
            hasComposedPattern: StatementText.composesPattern(key.sql))
        let saved = evidence.timeWithoutScan
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            severity: Severity.of(perRun, warning: FetchIndexing.minimumRows.value, error: 50_000), fix: advice.fix,
            code: advice.code, saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("the cost of the other search is unknown"),
            signature: [id, "sql", table, search.column].joined(separator: "|"))
        finding.alternatives = advice.alternatives
        finding.explanation = advice.explanation + evidence.plan(of: table, in: text)
        finding.complete(key, evidence, trying: .fullText(table: table, column: search.column))
        return finding
    }
}

/// Estimates for searches whose scanned rows were not counted.
extension TextSearchRule {
    /// Whether a search takes so long that it must have scanned many rows.
    static func isLong(_ counts: FetchCounts) -> Bool {
        LongFetch.isLong(counts.meanTime, explained: CostModel.assumed.cost(trips: 1, rows: counts.foundRows))
    }

    /// The number of rows that a search may have scanned, from its time.
    static func assumedRows(_ counts: FetchCounts) -> Double {
        isLong(counts) ? counts.meanTime / TextSearchCost.usual : 0
    }
}
