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
        let writes = profile.writes(of: index.entity)
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
