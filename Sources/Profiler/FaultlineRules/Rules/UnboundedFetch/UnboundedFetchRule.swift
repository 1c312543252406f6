internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R14: fetches that load all rows at once, however many there are, and pages behind a deep offset.
///
/// If another rule (R02, R03, R05, R17) finds that the program does not need all rows, that rule has the advice.
struct UnboundedFetchRule: Rule {
    let id = "R14"
    let name = "Unbounded fetches"
    let purpose =
        "Fetches without a limit or batch size that load many rows at once, or more as the data grows; and pages with "
        + "large offsets."
    let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum rows, or bytes, of a large result.
    ///
    /// Look-up tables are smaller.
    static let minimumBytes = Threshold(
        "R14", "minimumBytes", 4_194_304.0, .size, "minimum size of one result with fewer rows")
    /// The minimum share of a table's new rows that the result gets, and the minimum rows of a result, to report
    /// growth.
    static let minimumSlope = Threshold(
        "R14", "minimumSlope", 0.5, .share, "minimum share of a table's new rows by which the result grows")
    static let grownRows: UInt64 = 100
    /// The time of a fetch that a user notices, in nanoseconds.
    static let longFetch = 50_000_000.0

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var fetches: UInt64 = 0
        for fetch in profile.fetches
        where fetch.key.shape.resultType == "objects" && !fetch.key.shape.isLimited
            && fetch.key.shape.hasUnrecordedValues != true
        {
            fetches &+= fetch.counts.executions
            let found = fetch.mainUse == nil ? unrecorded(fetch, costs) : finding(for: fetch, profile, costs)
            if let found { outcome.findings.append(found) }
        }
        let paged = profile.fetches.filter { $0.counts.offsetFetches > 0 }
        outcome.findings += paged.compactMap { self.paged($0, profile, costs) }
        let pages = paged.total(\.offsetFetches)
        let parts: [Wording?] = [
            fetches > 0 ? "\(count: fetches, "fetch", plural: "fetches") without a limit" : nil,
            pages > 0 ? "\(count: pages, "fetch", plural: "fetches") with an offset" : nil,
        ]
        if fetches > 0 || pages > 0 {
            outcome.examined = parts.compactMap { $0 }.joined(separator: ", ")
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the offsets of \(count: statements, "statement")"
        }
        outcome.findings += statements(profile)
        return outcome
    }

    /// The finding if the trace does not have the use of the rows.
    private func unrecorded(_ fetch: FetchProfile, _ costs: CostModel) -> Finding? {
        let unbounded = fetch.sample.executions.filter { $0.limit == 0 && $0.batchSize == 0 }
        // The sample always keeps the longest fetches.
        guard let rows = unbounded.map(\.rows).max(), rows >= FetchProfile.manyRows.count, !fetch.isExport else {
            return nil
        }
        var finding = finding(for: fetch, rows: rows, rowSize: 0, grows: false, costs)
        finding.confidence = .low("all rows may have been needed")
        finding.reservations.insert(
            "The trace does not show how the rows were used: all of them may have been needed.", at: 0)
        finding.evidence = [
            Evidence("executions", fetch.counts.executions, .count), Evidence("rows", fetch.counts.rows, .rows),
            Evidence("maximumRows", rows, .rows),
        ]
        return finding
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        guard let (size, use) = fetch.mainUse, size == 0, use.limitedExecutions == 0 else { return nil }
        let rowSize = use.loadedRows == 0 ? 0 : Double(use.bytes) / Double(use.loadedRows)
        let isLarge =
            use.maximumRows >= FetchProfile.manyRows.count
            || Double(use.maximumRows) * rowSize >= Self.minimumBytes.value
        let grows = use.maximumRows >= Self.grownRows && fetch.growth.slope ?? 0 >= Self.minimumSlope.value
        guard isLarge || grows, !fetch.isExport, fetch.isForItsRows,
            BatchDemand(of: fetch, profile, costs) == nil,
            UnusedRows(of: fetch, profile, costs)?.isChosen != true
        else { return nil }
        var finding = finding(for: fetch, rows: use.maximumRows, rowSize: rowSize, grows: grows, costs)
        finding.seenAt = fetch.readers
        finding.saving.memory = Int64(
            saturating: max(0, Double(use.maximumRows) - Double(Self.batch(rowSize: rowSize))) * rowSize)
        finding.evidence = [
            Evidence("executions", use.executions, .count), Evidence("rows", use.rows, .rows),
            Evidence("maximumRows", use.maximumRows, .rows), Evidence("bytes", use.bytes, .bytes),
            Evidence("runs", fetch.growth.count, .count),
        ]
        return finding
    }

    /// - Parameters:
    ///   - rows: The rows of the largest result.
    ///   - rowSize: In bytes, or 0 if unknown.
    ///   - grows: Whether results are known to grow with the table.
    private func finding(
        for fetch: FetchProfile, rows: UInt64, rowSize: Double, grows: Bool, _ costs: CostModel
    ) -> Finding {
        let (count, bytes) = (Double(rows), Double(rows) * rowSize)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Load the rows of \(entity: fetch.key.shape.entity) in batches, or a page at a time",
            change: fetch.key.site,
            severity: min(
                Severity.warning,
                max(
                    // Results that are known to grow are judged by their projected size.
                    Severity.of(
                        count * (grows ? Growth.projected : 1), warning: FetchProfile.manyRows.value, error: 10_000),
                    Severity.of(bytes, warning: Self.minimumBytes.value, error: 10 * Self.minimumBytes.value))),
            fix: "With a batch size, rows are loaded as they are reached, and only the last batches stay in memory. "
                + "With a limit and a predicate on the sort key, they are loaded page by page.",
            code: ["request.fetchBatchSize = \(Self.batch(rowSize: rowSize))"], saving: Saving(),
            confidence: .medium("the program may need all rows at once"),
            signature: fetch.signature(id, "unbounded"))
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = explanation(fetch, rows, rowSize: rowSize, grows: grows)
        finding.reservations = [projection(fetch, count, rowSize, grows: grows, costs)]
        return finding
    }

    /// The number of rows of a batch for which the cost of the trip and the memory are small.
    private static func batch(rowSize: Double) -> UInt64 {
        ResultUse.candidates.last { $0 > 0 && $0 <= 500 && Double($0) * rowSize <= minimumBytes.value } ?? 5
    }

    private func explanation(
        _ fetch: FetchProfile, _ rows: UInt64, rowSize: Double, grows: Bool
    ) -> [Wording] {
        let all: Wording =
            fetch.key.shape.predicate.isEmpty
            ? "It fetches every \(entity: fetch.key.shape.entity): " : ""
        let size: Wording = rowSize > 0 ? ", \(size: Double(rows) * rowSize)" : ""
        var sentences: [Wording] = ["\(all)\(rows: rows) at once\(size), and nothing limits the number."]
        if grows, let least = fetch.growth.runs.first, let most = fetch.growth.runs.last {
            sentences.append(
                "It grows with its table: in \(count: fetch.growth.count, "run") from "
                    + "\(count: least.rows, of: .rows) of \(rows: least.tableRows) to "
                    + "\(count: most.rows, of: .rows) of \(count: most.tableRows, of: .rows).")
        }
        return sentences
    }

    /// A sentence about the fetch's time, and its time and memory if the data grew.
    ///
    /// Both may be small now.
    private func projection(
        _ fetch: FetchProfile, _ rows: Double, _ rowSize: Double, grows: Bool, _ costs: CostModel
    ) -> Wording {
        let growth = Growth(fetch, costs: costs)
        let now = growth?.now.median ?? costs.rows(of: fetch.key.shape).line.cost(trips: 1, rows: rows)
        // The times in a log can be too short to be recorded.
        guard now > 0 else { return "The time with more rows is unknown." }
        let here: Wording =
            now < Self.longFetch
            ? "It takes little time at this size." : "It takes \(duration: now) at this size."
        // A predicate may exclude all rows that are added.
        guard rowSize > 0, grows || fetch.key.shape.predicate.isEmpty else { return here + (growth?.sentence ?? "") }
        let memory: Wording = "\(size: rows * Growth.projected * rowSize)"
        guard let growth else { return here + " With ten times the rows it would hold \(memory)." }
        return here
            + " With ten times the rows a fetch would take \(span: growth.time(with: Growth.projected)) and hold "
            + "\(memory)."
    }
}

extension FetchProfile {
    /// Whether the program marks the fetches as bulk work, in scopes of kind `bulk`.
    var isExport: Bool {
        let bulk = counts.scopes.reduce(0) { $0 &+ ($1.key.kind == .bulk ? $1.value : 0) }
        return bulk > 0 && Significance.isAtLeastHalf(bulk, of: counts.executions)
    }
}

extension UnboundedFetchRule {
    var needs: Set<TraceGap.Kind> { [.operations] }
    var needsOfStatements: Set<TraceGap.Kind> { [.statements, .counters] }

    var thresholds: [Threshold] {
        [FetchProfile.manyRows, Self.minimumBytes, Self.minimumSlope, Self.minimumOffset]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R14 reports a fetch without a limit or batch size that returns at least "
                + "\(Phrase.count(FetchProfile.manyRows.count)) rows or \(UnboundedFetchRule.minimumBytes.text) at "
                + "once; or at least \(UnboundedFetchRule.grownRows) rows, if the result gains at least "
                + "\(UnboundedFetchRule.minimumSlope.text) as many rows as its table between runs. Runs are processes, "
                + "of one trace or of profiles that were merged. It also reports fetches whose offsets skip at least "
                + "\(Phrase.count(UnboundedFetchRule.minimumOffset.count)) rows on average, and ten times the rows "
                + "that they return. In a program without an object store, it reports statements with such offsets, "
                + "and statements without a limit that return at least \(Phrase.count(FetchProfile.manyRows.count)) "
                + "rows to Django's querysets or GRDB's fetchAll, which keep them all. Below "
                + "\(Phrase.decimal(UnboundedFetchRule.seriousRows, places: 0)) rows, these are notes.",
            evidence:
                "The finding gives the results, their rows, the rows of the largest result, the bytes, and the runs in "
                + "which the size of the table is known.",
            fix: "Set a batch size, so that rows are loaded as they are reached; or a limit, with a predicate on the "
                + "sort key for the next page.",
            saving:
                "A bounded fetch saves memory that need not be held at once, but no time. For pages, the saving is the "
                + "time beyond that of pages with a small offset or, without these, the cost of stepping over each "
                + "skipped row, measured on the machine or assumed.",
            guards: [
                "If a statement does not scan the whole table, SQLite does not count the rows that it skips. R14 then estimates them "
                    + "from the steps of its virtual machine: the shortest run of a statement at a line counts as its first page, and "
                    + "a skipped row as three steps.",
                "R14 ignores scopes of kind bulk, which mark work on all rows.",
                "Below \(Phrase.count(FetchProfile.manyRows.count)) rows, R14 ignores results from look-up tables, which do not grow: the table must have twice as many rows in "
                    + "one run as in another.",
                "The size of a table is known in runs with a fetch that scans it or asks for all of it.",
                "If fewer rows are needed, R02, R03, R05 and R17 give the advice.",
                "If the trace does not show how the rows were used, as with logs of SQLDebug, the finding says so.",
                "R14 never reports an error.",
            ])
    }
}

/// The findings about statements of programs without an object store.
extension UnboundedFetchRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.offsets.compactMap { finding($0.key, $0.evidence) }
            + profile.wholeResults.compactMap { finding($0.key, $0.evidence) }
    }

    /// The rows of a result that are worth more than a note.
    static let seriousRows = 5000.0

    /// A result that a mapper keeps in memory, with no limit to its rows.
    private func finding(_ key: StatementSite, _ evidence: WholeResultEvidence) -> Finding? {
        let text = StatementText(key.sql)
        guard let table = text.table, !text.isAggregated, !text.isOfSQLite else { return nil }
        let library = StatementLibrary(names: evidence.libraries), model = StatementLibrary.modelName(of: table)
        var finding = Finding(
            rule: id, ruleName: name, title: "Load the rows of \(entity: table) in parts, or a page at a time",
            change: key.site,
            severity: min(
                Severity.warning,
                Severity.of(Double(evidence.mostRows), warning: Self.seriousRows, error: 10 * Self.seriousRows)),
            fix: "The number of rows in memory then no longer grows with the table.",
            code: library == .grdb
                ? ["let rows = try \(model).fetchCursor(db)"]
                : ["for row in \(model).objects.iterator(chunk_size=500): …"],
            saving: Saving(), confidence: .low("all rows may have been needed"),
            signature: [id, "unbounded", text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = library?.language ?? "sql"
        finding.alternatives = [
            library == .grdb
                ? "For a screen, fetch a page: \(code: ".limit(size)") and a condition on the sort key."
                : "For a page, use \(code: "[:size]") and a condition on the sort key."
        ]
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        let results: Wording =
            evidence.executions == 1
            ? "" : "\(count: evidence.executions, "run") returned up to that many. "
        finding.explanation = [
            "\(code: Phrase.shortened(text.summary, to: 90)) returned \(rows: evidence.mostRows) at once, and nothing limits the "
                + "number. \(results)\(library?.name ?? "The mapper") keeps them all in memory."
        ]
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("maximumRows", evidence.mostRows, .rows), Evidence("time", evidence.time, .nanoseconds),
        ]
        finding.reservations = ["The trace does not show how the rows were used: all of them may have been needed."]
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }

    /// Pages that SQLite finds by stepping over all rows before them.
    private func finding(_ key: StatementSite, _ evidence: OffsetEvidence) -> Finding? {
        let skipped = evidence.skippedRows, mean = skipped / Double(max(1, evidence.executions))
        guard mean >= Self.minimumOffset.value, skipped >= Self.offsetFactor * Double(evidence.rows) else { return nil }
        let text = StatementText(key.sql)
        guard let table = text.table, !text.isAggregated, !text.isOfSQLite, !text.looksUpRows(evidence.runs) else {
            return nil
        }
        let advice = StatementOffsetAdvice(text: text, table: table, evidence: evidence)
        let saved = evidence.skippingTime
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            severity: Severity.of(mean, warning: Self.minimumOffset.value, error: 50 * Self.minimumOffset.value),
            fix: advice.fix, code: advice.code,
            saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("a row that is skipped may cost less than one that is returned"),
            signature: [id, "offset", text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.alternatives = advice.alternatives
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("skippedRows", skipped.rounded(), .rows), Evidence("virtualMachineSteps", evidence.steps, .count),
            Evidence("time", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        if let order = text.sortKeys.first, text.sortKeys.count == 1 {
            let each = UInt64(min((skipped / Double(max(1, evidence.executions))).rounded(), 1e15))
            finding.remedy = .statement(
                StatementChange(
                    sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                    kind: .keyset(column: order.name, isDescending: order.isDescending, skipped: each)))
        }
        if !Significance.isMet(
            saving: saved, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            finding.downgrade(Significance.notProven)
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }
}
