internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R19: rows that SQLite sorts itself because no index has them in order.
///
/// SQLite counts the sorts of a statement (`SQLITE_STMTSTATUS_SORT`,
/// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html).
struct SortRule: Rule {
    let id = "R19"
    let name = "Sorting without an index"
    let purpose = "Fetches whose rows SQLite sorts each time, although an index could return them in order."
    let kinds: Set<EventKind> = [.fetch, .sql]
    let asksSQLite = true

    /// The minimum rows of a reported sort.
    ///
    /// Fewer are enough if a limit keeps at most a tenth of them.
    static let minimumRows = Threshold("R19", "minimumRows", 500.0, .count, "minimum rows of a sort")
    static let minimumLimitedRows = Threshold(
        "R19", "minimumLimitedRows", 50.0, .count, "minimum rows of a sort with a limit")
    static let limitFactor = Threshold(
        "R19", "limitFactor", 10.0, .factor, "minimum ratio of sorted rows to the limit")

    let examinations: IndexExaminations

    init() { self.init(knowing: IndexExaminations()) }

    /// - Parameter examinations: SQLite's answers about indexes for the statements of the trace.
    init(knowing examinations: IndexExaminations) { self.examinations = examinations }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        for fetch in profile.fetches where !fetch.key.shape.sort.isEmpty {
            examined &+= fetch.counts.statements
            if let finding = finding(for: fetch, profile, costs) { outcome.findings.append(finding) }
        }
        if examined > 0 {
            outcome.examined = "\(count: examined, "sorted fetch", plural: "sorted fetches")"
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the sorts of \(count: statements, "statement")"
        }
        outcome.findings += statements(profile)
        return outcome
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let counts = fetch.counts
        // An index that finds few rows also has them in order.
        guard counts.sorts > 0, !FetchIndexing(fetch: fetch, profile: profile).ordersRows else { return nil }
        let entity = profile.entity(fetch.key.shape.entity)
        let least = LimitedSort(
            counts: counts, shape: fetch.key.shape, plan: fetch.statements.commonPlan,
            columns: entity?.properties.count ?? 0
        ).rows
        let sortedRows = max(Double(counts.sortedRows), least ?? 0)
        let isEstimated = sortedRows > Double(counts.sortedRows)
        let sorted = sortedRows / Double(counts.sorts)
        let isCut = fetch.key.shape.isLimited && sorted >= Self.limitFactor.value * max(1, counts.foundRows)
        guard sorted >= Self.minimumRows.value || (isCut && sorted >= Self.minimumLimitedRows.value) else { return nil }
        let advice = SortAdvice(
            fetch: fetch, sorted: sorted, isCut: isCut, isEstimated: isEstimated, profile: profile)
        let sorting = CostModel.sorting(sorted) * Double(counts.sorts)
        let carried = WideSort(fetch)?.time ?? .none
        // The shape's own trips include sorting, so they cannot be used.
        let estimate = costs.store
        // With an index, a limited fetch stops at its last row. Any other fetch must still read all rows.
        let saving =
            isCut
            ? estimate.range { line in
                Double(counts.time) - Double(counts.prepareTime)
                    - line.sought.cost(trips: Double(counts.executions), rows: Double(counts.rows))
            }
            : (
                min(sorting + carried.usual, Double(counts.time)),
                min(sorting / 2 + carried.least, Double(counts.time)),
                min(sorting * 2 + carried.most, Double(counts.time))
            )
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: Severity.of(sorted, warning: Self.minimumRows.value, error: 50_000), fix: advice.fix,
            code: advice.code,
            saving: Saving(time: Saving.Range(saving)),
            confidence: isCut
                ? min(.medium("the cost of sorting is estimated"), estimate.confidence(in: saving))
                : .low("the cost of sorting is assumed"),
            signature: fetch.signature(id, fetch.key.shape.sort.joined(separator: ",")))
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("sorts", counts.sorts, .count),
            Evidence("sortedRows", sortedRows, .rows), Evidence("rows", counts.rows, .rows),
            Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = advice.remedy
        weigh(&finding, fetch, advice, profile, costs)
        return finding
    }

    private func weigh(
        _ finding: inout Finding, _ fetch: FetchProfile, _ advice: SortAdvice, _ profile: Profile, _ costs: CostModel
    ) {
        if let obstacle = advice.obstacle { finding.downgrade(obstacle) }
        guard
            !Significance.isMet(
                saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
                isMainThread: fetch.isOnMainThread)
        else { return }
        // The sort grows with the table, whatever it costs now.
        finding.reservations.append(Significance.notProven + (Growth(fetch, costs: costs)?.sentence ?? ""))
    }
}

extension SortRule {
    var needs: Set<TraceGap.Kind> { [.plans] }

    var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumLimitedRows, Self.limitFactor]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R19 reports a fetch for which SQLite sorted at least "
                + "\(Phrase.decimal(SortRule.minimumRows.value, places: 0)) rows; or, for a fetch with a limit, at "
                + "least \(Phrase.decimal(SortRule.minimumLimitedRows.value, places: 0)) rows and at least "
                + "\(SortRule.limitFactor.text) times as many as it returned. In a program without an object store, it "
                + "reports statements that sort a whole table by columns and return as few of its rows.",
            evidence:
                "The finding gives the fetches, the sorts, the rows sorted and returned, and the time. If a fetch has "
                + "a predicate and a limit, the steps of SQLite's virtual machine give a minimum of the rows sorted. "
                + "If the trace lacks SQLite's counters, its plan shows the sort.",
            fix: "Declare an index with the columns compared for equality first, then the sort keys with their "
                + "directions. If the order does not matter, leave the sort descriptors out.",
            saving:
                "With a limit, the saving is the fetches' time, minus one trip each and the cost of the returned rows. "
                + "Without one, it is the assumed cost of sorting as many rows: 50 ns per comparison, and "
                + "\(Phrase.decimal(CostModel.sortedByte.usual, places: 1)) ns for each byte of a row beyond "
                + "\(Phrase.decimal(CostModel.narrowRow, places: 0)), because SQLite's sorter carries every selected column.",
            guards: [
                "If no index can have the texts in the sort order (localized, or case-insensitive), or a sort key is "
                    + "in another table, the finding explains this and is a note.",
                "On little data the finding stays a warning and says that the cost is not proven at this size. It "
                    + "projects the time at ten times the rows if the trace has the plan and at least "
                    + "\(Growth.minimumFetches) of the fetches.",
            ])
    }
}

/// The findings about statements of programs without an object store.
extension SortRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.statementScans.filter { !examinations.hasAnswer($0.key.sql) }
            .compactMap { finding($0.key, $0.evidence) }.joined("The index")
    }

    /// A statement that sorts a whole table and returns few of its rows, although an index has them in order.
    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard evidence.sorts > 0, perRun >= Self.minimumRows.value, steps >= Self.limitFactor.value * rows else {
            return nil
        }
        let text = StatementText(key.sql)
        // A view has no index. SQLite's plan names the tables under it.
        guard let table = text.table, !text.order.isEmpty, !text.isAggregated, evidence.mayScan(table, of: text) else {
            return nil
        }
        let saved = Double(evidence.time) * (1 - rows / steps)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Create an index on \(entity: table)(\(property: text.order.map(\.name).joined(separator: ", ")))",
            change: key.site, severity: Severity.of(perRun, warning: Self.minimumRows.value, error: 50_000),
            fix: "SQLite then reads the rows in order, and stops after the last one that is wanted.",
            code: [StatementText.index(on: table, text.order)],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("the costs of a step and of sorting are estimated"),
            signature: ([id, "sql", table] + text.order.map(\.name)).joined(separator: "|"))
        if text.order.count == 1 {
            finding.alternatives = StatementLibrary(names: evidence.libraries)?.indexing(text.order[0].name) ?? []
        }
        finding.explanation = [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90)) sorted "
                + "\(decimal: steps, places: 0, of: .rows) rows to return \(count: evidence.rows), in \(duration: evidence.time)."
        ]
        finding.evidence = [
            Evidence("sorts", evidence.sorts, .count), Evidence("sortedRows", UInt64(steps), .rows),
        ]
        finding.complete(key, evidence, trying: .indexes(finding.code))
        return finding
    }
}

/// An estimate of the rows that SQLite sorted for a fetch whose limit lets it return only a few.
///
/// SQLite does not count them. With a predicate, the steps of its virtual machine give a minimum: SQLite's programs
/// (https://www.sqlite.org/opcode.html) take at most the steps assumed here for each row.
struct LimitedSort {
    let counts: FetchCounts
    let shape: ShapeEntry
    /// SQLite's plan, or `nil` if unknown.
    let plan: String?
    /// The number of columns of a row.
    let columns: Int

    /// The steps for a row of a scan, and for each comparison: to read the column, to compute, and to jump.
    private static let scanned = 1.0
    private static let plainTerm = 3.0
    private static let otherTerm = 6.0
    /// The additional steps for a row that matches, until it is in the sorter or sorts behind the last row kept.
    private static let sorted = 8.0
    /// The steps for each column of a returned row, into the sorter and out of it, and for the row itself.
    private static let column = 2.0
    private static let row = 16.0

    /// The minimum number of rows sorted in all, or `nil` if it cannot be estimated.
    var rows: Double? {
        guard let terms = shape.terms, !terms.isEmpty, shape.isLimited, counts.sorts > 0,
            // A list takes steps for its values too, and the steps for another table are unknown.
            !terms.contains(where: { $0.keyPath.contains(".") || $0.operation.hasPrefix("ANY") || $0.operation == "IN" }
            ),
            counts.fullScanSteps > 0 || decidesAll(terms.count)
        else { return nil }
        let comparing = terms.reduce(0) { $0 + ($1.isPlain ? Self.plainTerm : Self.otherTerm) }
        let scan = counts.fullScanSteps > 0 ? Double(counts.fullScanSteps &+ counts.statements) : 0
        let handedOut = Double(counts.rows) * (Self.row + Self.column * Double(columns))
        let steps = Double(counts.virtualMachineSteps) - scan * (Self.scanned + comparing) - handedOut
        return max(0, steps / (Self.sorted + (scan > 0 ? 0 : comparing)))
    }

    /// Whether an index seeks the rows by all terms.
    ///
    /// Otherwise some rows that it finds are not sorted.
    private func decidesAll(_ terms: Int) -> Bool {
        guard let search = plan.flatMap(StatementTable.ownSearch) else { return false }
        return search.utf8.count { $0 == UInt8(ascii: "?") } == terms
    }
}

extension ShapeEntry.Term {
    /// Whether SQLite compares the column with a value directly.
    fileprivate var isPlain: Bool {
        options == nil && ["==", "!=", "<", "<=", ">", ">="].contains(operation) && operand != "expression"
    }
}
