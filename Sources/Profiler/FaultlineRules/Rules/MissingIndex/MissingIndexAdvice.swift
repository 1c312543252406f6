internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R06's findings.
struct MissingIndexAdvice {
    let demand: MissingIndexRule.Demand
    let profile: Profile

    private var index: IndexProposal { demand.index }

    var title: Wording { "Index \(entity: index.entity) by \(index.properties)" }

    var fix: Wording {
        if index.namesColumns { return index.modelFix }
        return index.elements.count == 1
            ? "With it, SQLite seeks the matching rows instead of scanning the table."
            : "With it, SQLite seeks the matching rows instead of scanning the table. Columns compared for equality "
                + "come first, then one range or the sort keys."
    }

    var explanation: [Wording] {
        let executions = demand.fetches.total(\.executions)
        let rows = demand.fetches.total(\.rows)
        let steps = demand.fetches.reduce(0) { $0 + $1.counts.scannedRows * Double($1.counts.executions) }
        let scanned = steps / Double(max(1, executions))
        let work: Wording =
            executions == 1
            ? "A fetch scanned \(decimal: scanned, places: 0, of: .rows) rows to find \(count: rows, of: .rows)"
            : "\(count: executions, "fetch", plural: "fetches") scanned about "
                + "\(decimal: scanned, places: 0, of: .rows) rows each to find \(count: rows, of: .rows) in all"
        let one = demand.fetches.reduce(0) { $0 + $1.counts.runTime } / Double(max(1, executions))
        var sentences: [Wording] = [
            "\(work): \(plan.map { "SQLite's plan is \(code: $0)." as Wording } ?? "no index serves the search.")",
            "SQLite takes \(duration: one) per fetch, and ten times as long with ten times the rows.",
        ]
        for (name, share) in leftOut {
            sentences.append(
                "\(property: name) is left out: fetches that compare only this property return \(percent: share) of "
                    + "the table."
            )
        }
        let writes = index.writes(profile)
        if writes > 0 {
            sentences.append(
                "Maintaining the index costs about \(duration: MissingIndexRule.upkeep) per written row; "
                    + "\(rows: writes) \(writes == 1 ? "was" : "were") written.")
        }
        return sentences
    }

    /// Properties that are compared for equality but omitted from the index, with the share of the table that fetches
    /// comparing only them return.
    private var leftOut: [(name: String, share: Double)] {
        guard let terms = demand.fetches.first?.key.shape.terms else { return [] }
        let compared = terms.filter(\.isEquality).map(\.keyPath).uniqued
        let columns = Set(index.elements.map(\.property))
        return FetchIndexing.weakProperties(compared, of: index.entity, profile)
            .filter { !columns.contains($0.key) }.ordered(on: \.key).map { ($0.key, $0.value) }
    }

    /// The scan in the plan of the longest fetch: `SCAN t0`, or with the name of a joined table `SCAN t1 (ZMEMBER)`.
    private var plan: String? {
        guard let statements = demand.fetches.lazy.map(\.statements).first(where: { $0.commonPlan != nil }),
            let plan = statements.commonPlan
        else { return nil }
        if let own = StatementTable.ownScan(in: plan) { return own }
        guard let scan = plan.split(separator: "\n").first(where: { $0.hasPrefix("SCAN t") }) else { return nil }
        let alias = scan.split(separator: " ")[1]
        let tables = statements.texts.keys.compactMap { StatementEntry(sql: $0).table(of: alias) }
        return tables.first.map { "\(scan) (\($0))" } ?? String(scan)
    }
}

extension MissingIndexRule {
    /// The findings about indexes that plans show to be missing, and about fetches without a plan, whose plans need a
    /// look.
    func longFetches(_ profile: Profile) -> [Finding] {
        let reported = Self.demands(profile).map(\.index)
        var wanted: [IndexProposal: [LongFetch]] = [:]
        var findings: [Finding] = []
        for long in profile.fetches.compactMap(LongFetch.init) {
            if long.plan != nil {
                guard let index = Self.index(for: long, profile), !reported.contains(where: { $0.serves(index) }) else {
                    continue
                }
                wanted[index, default: []].append(long)
            } else if !long.isSearch, let gap = profile.allProcesses.gaps.first(where: { $0.kind == .plans }) {
                findings.append(finding(for: long, gap, profile))
            }
        }
        findings += wanted.map { finding(for: $0.key, $0.value.ordered { $0.saved > $1.saved }, profile) }
        return findings
    }

    /// The index for the columns that a fetch compares, or `nil` if its plan already seeks by them or there are none.
    private static func index(for long: LongFetch, _ profile: Profile) -> IndexProposal? {
        guard long.access != nil, let index = comparedColumns(of: long.fetch.key.shape, profile) else { return nil }
        return index.elements.allSatisfy {
            long.soughtColumns.contains($0.column) || long.soughtColumns.contains($0.property)
        }
            ? nil : index
    }

    private static func comparedColumns(of shape: ShapeEntry, _ profile: Profile) -> IndexProposal? {
        guard let entity = profile.entity(shape.entity) else { return nil }
        let terms = (shape.terms ?? []).filter { entity.hasColumn($0.keyPath) }
        var names = terms.filter(\.isEquality).map(\.keyPath).uniqued
        names = Array(names.prefix(FetchIndexing.maximumColumns.number))
        let equalities = names.count
        if let range = terms.first(where: { $0.isRange && !names.contains($0.keyPath) }),
            names.count < FetchIndexing.maximumColumns.number
        {
            names.append(range.keyPath)
        }
        guard !names.isEmpty else { return nil }
        return IndexProposal(
            entity: shape.entity, elements: names.map { IndexProposal.Element(property: $0) }, equalities: equalities)
    }

    private func finding(for index: IndexProposal, _ long: [LongFetch], _ profile: Profile) -> Finding {
        let fetches = long.map(\.fetch)
        let saved = max(0, long.reduce(0) { $0 + $1.saved } - Self.upkeep * Double(index.writes(profile)))
        var finding = Finding(
            rule: id, ruleName: name, title: "Index \(entity: index.entity) by \(index.properties)",
            change: fetches[0].key.site, severity: Self.severity(long), fix: index.namesColumns ? index.modelFix : "",
            code: index.code, saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("the trace does not show how many rows SQLite scans"),
            signature: fetches[0].signature(id, index.properties.text))
        finding.seenAt = fetches.dropFirst().map(\.sighting)
        finding.scopes = fetches[0].counts.scopes.names
        let plan = long[0].access ?? ""
        let reason: Wording =
            plan.hasPrefix("SCAN")
            ? "SQLite's plan is \(code: plan): it scans the table."
            : "SQLite's plan is \(code: plan), which reads far more rows than match."
        finding.explanation = [Self.what(long, profile) + ": " + reason]
        finding.reservations = ["The trace does not show how many rows SQLite scans."]
        finding.evidence = Self.evidence(long)
        finding.claims = fetches.map { Claim.loads($0.key, profile) }
        finding.remedy = index.remedy(for: fetches.map(\.key))
        return finding
    }

    private func finding(for long: LongFetch, _ gap: TraceGap, _ profile: Profile) -> Finding {
        let fetch = long.fetch
        let rows: Wording = "\(decimal: fetch.counts.foundRows, places: 0, of: .rows)"
        var finding = Finding(
            rule: id, ruleName: name,
            title:
                "Find out why the fetch of \(entity: fetch.key.shape.entity) takes \(duration: long.time) for \(rows) "
                + (rows.text == "1" ? "row" : "rows"),
            change: fetch.key.site, severity: min(Severity.warning, Self.severity([long])),
            fix: gap.remedy.isEmpty
                ? "Run the statement with \(code: "EXPLAIN QUERY PLAN")."
                : "Run the program with \(gap.remedy), which logs SQLite's plan.",
            saving: Saving(), confidence: .low("the trace does not have SQLite's plan"),
            signature: fetch.signature(id, "unplanned"))
        finding.scopes = fetch.counts.scopes.names
        let index = Self.comparedColumns(of: fetch.key.shape, profile)
        finding.explanation = [
            "\(Self.what([long], profile)), far longer than these rows take. The trace has no plan: the cause can be "
                + "a SCAN of the table, a sort (TEMP B-TREE), a cold file or another connection's lock."
        ]
        if let index {
            finding.alternatives = ["If the plan is a SCAN, index \(entity: index.entity) by \(index.properties)."]
        }
        finding.evidence = Self.evidence([long])
        return finding
    }

    private static func severity(_ long: [LongFetch]) -> Severity {
        Severity.of(
            long.map(\.time).max() ?? 0, warning: LongFetch.minimumTime.value, error: 25 * LongFetch.minimumTime.value)
    }

    private static func what(_ long: [LongFetch], _ profile: Profile) -> Wording {
        let executions = long.map(\.fetch).total(\.executions)
        let time = long.reduce(0) { $0 + $1.time * Double($1.fetch.counts.executions) } / Double(max(1, executions))
        let each = executions == 1 ? "" : " each"
        let subject = long.allSatisfy(\.isTimeOfSQLite) ? "took SQLite" : "took"
        return
            "\(count: executions, "fetch", plural: "fetches") \(subject) \(duration: time)\(each) to find "
            + "\(rows: long.map(\.fetch).total(\.rows))" + (executions == 1 ? "" : " in all")
    }

    private static func evidence(_ long: [LongFetch]) -> [Evidence] {
        let fetches = long.map(\.fetch)
        return [
            Evidence("executions", fetches.total(\.executions), .count), Evidence("rows", fetches.total(\.rows), .rows),
            Evidence("fetchTime", fetches.total(\.time), .nanoseconds),
            Evidence("longestTime", long.map(\.time).max() ?? 0, .nanoseconds),
        ]
    }
}
