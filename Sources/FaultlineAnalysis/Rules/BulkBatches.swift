internal import FaultlineTrace

/// R02 for results that are worked through without pauses: what counts is the total, and memory.
struct BulkBatches {
    /// The batch size in force; 0: none.
    let size: UInt64
    let use: ResultUse
    let fetch: FetchProfile.Key
    /// Whether all rows may be loaded at once, if they are used and fit; R14 is against that where they are many.
    let mayLoadAll: Bool

    /// What the rows of one batch may take in memory, in bytes.
    static let memoryLimit = 4_194_304.0
    /// How much more than the best a size may cost and still count as equal.
    static let plateau = 1.1
    /// How much more than the advised size the one in force must cost.
    static let threshold = 1.3

    private var rowSize: Double { use.loadedRows == 0 ? 0 : Double(use.bytes) / Double(use.loadedRows) }
    private var rows: Double { Double(use.rows) / Double(max(1, use.executions)) }

    /// What using the results costs with a batch size, in nanoseconds.
    func cost(_ size: UInt64, _ line: CostLine, _ identity: CostLine) -> Double {
        let executions = Double(use.executions)
        guard size > 0 else { return line.cost(trips: executions, rows: Double(use.rows)) }
        let loading = use.loadings[size] ?? .init()
        return identity.cost(trips: executions, rows: Double(use.rows))
            + line.cost(trips: Double(loading.batches), rows: Double(loading.rows))
    }

    /// The sizes that cost about as little as the best, and the one to take.
    func choice(_ line: CostLine, _ identity: CostLine) -> (advised: UInt64, plateau: [UInt64])? {
        let fitting = ResultUse.candidates.filter { size in
            (size > 0 || mayLoadAll) && (size == 0 ? rows : min(rows, Double(size))) * rowSize <= Self.memoryLimit
        }
        let costs = fitting.map { ($0, cost($0, line, identity)) }
        guard let least = costs.map(\.1).min() else { return nil }
        let plateau = costs.filter { $0.1 <= least * Self.plateau }.map(\.0)
        let usesAll = use.rows > 0 && Double(use.touchedRows) >= 0.9 * Double(use.rows)
        if usesAll, plateau.contains(0) { return (0, plateau) }
        guard let smallest = plateau.first(where: { $0 > 0 }) ?? plateau.first else { return nil }
        return (smallest, plateau)
    }

    func finding(rule: BatchSizeRule, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let estimate = costs.rows(of: fetch.shape)
        let identity = costs.identities(of: fetch.shape).line
        guard !Significance.isMost(use.limitedExecutions, of: use.executions) || size > 0,
            let (advised, plateau) = choice(estimate.line, identity), advised != size, !plateau.contains(size)
        else { return nil }
        let (now, then) = (cost(size, estimate.line, identity), cost(advised, estimate.line, identity))
        let memory = (size == 0 ? rows : min(rows, Double(size))) * rowSize
        guard now >= then * Self.threshold || memory > Self.memoryLimit else { return nil }
        let saving = estimate.range { cost(size, $0, identity) - cost(advised, $0, identity) }
        let figure = memory > Self.memoryLimit ? max(now / max(1, then), memory / Self.memoryLimit) : now / max(1, then)
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: title(advised), change: fetch.site,
            score: Score.of(figure - 1, info: 0.3, warning: 4), fix: fix(advised, plateau),
            code: ["request.fetchBatchSize = \(advised)"], saving: Saving(time: Saving.Range(saving)),
            confidence: use.runsLost > 0 ? min(.medium, estimate.confidence) : estimate.confidence,
            signature: BatchSizeRule.signature(fetch))
        let (before, after) = (use.loadings[size] ?? .init(), use.loadings[advised] ?? .init())
        let identityTrips = { (size: UInt64) in size > 0 ? Int64(clamping: use.executions) : 0 }
        finding.saving.trips =
            Int64(clamping: before.batches) - Int64(clamping: after.batches) + identityTrips(size)
            - identityTrips(advised)
        finding.saving.rows = Int64(clamping: before.rows) - Int64(clamping: after.rows)
        finding.saving.bytes = Int64(saturating: Double(finding.saving.rows) * rowSize)
        finding.saving.memory = Int64(
            saturating: max(0, memory - (advised == 0 ? rows : min(rows, Double(advised))) * rowSize))
        finding.seenAt = BatchSizeRule.seenAt(use)
        finding.scopes = use.loadScopes.names
        finding.claims = [BatchSizeRule.claim(fetch, profile)]
        finding.remedy = .change(fetch, FetchChange(batchSize: UInt32(clamping: advised)))
        describe(&finding, plateau, estimate.line, identity)
        let isMain = Significance.isMost(use.mainThreadLoads, of: use.loads)
        if memory <= Self.memoryLimit,
            !Significance.isMet(
                saving: saving.median, wallTime: profile.wallTime(of: use.loadScopes.keys), isMainThread: isMain)
        {
            finding.downgrade("The saving is below 1 % of the time that the work took, and below 2 ms.")
        }
        return finding
    }

    private func title(_ advised: UInt64) -> String {
        let now = size == 0 ? "now all rows at once" : "now \(Phrase.count(size))"
        return advised == 0
            ? "Load \(fetch.shape.entity) at once, without batches (\(now))"
            : "Set the batch size of \(fetch.shape.entity) to \(Phrase.count(advised)) (\(now))"
    }

    private func fix(_ advised: UInt64, _ plateau: [UInt64]) -> String {
        let batched = plateau.filter { $0 > 0 }
        guard let first = batched.first, let last = batched.last, first != last else {
            return advised == 0
                ? "All rows are used, and they fit into memory." : "The work needs these rows in larger pieces."
        }
        let equal = "\(Phrase.count(first))–\(Phrase.count(last)) cost the same within 10 %"
        return advised == 0
            ? "All rows are used, and they fit into memory (\(equal))."
            : "\(equal); the smallest of them takes the least memory."
    }

    private func describe(_ finding: inout Finding, _ plateau: [UInt64], _ line: CostLine, _ identity: CostLine) {
        let shown = Set([size, 5, 20, 100, 500, 5000, 0]).sorted {
            ($0 == 0 ? UInt64.max : $0) < ($1 == 0 ? UInt64.max : $1)
        }
        let curve = shown.map { size in
            (size == 0 ? "all" : Phrase.count(size)) + " " + Phrase.duration(cost(size, line, identity))
        }
        finding.explanation = [
            "\(Phrase.count(use.touchedRows)) of \(Phrase.count(use.rows, "row")) were used without pauses, in "
                + "\(Phrase.count(use.executions, "result")).",
            "Cost by batch size: " + curve.joined(separator: ", ") + ".",
        ]
        finding.evidence = [
            Evidence("batchSize", size, .rows), Evidence("executions", use.executions, .count),
            Evidence("matchedRows", use.rows, .rows), Evidence("loadedRows", use.loadedRows, .rows),
            Evidence("touchedRows", use.touchedRows, .rows), Evidence("rowBytes", rowSize, .bytes),
        ]
        for candidate in Set(ResultUse.candidates + [size]).sorted() {
            finding.evidence.append(Evidence("cost(\(candidate))", cost(candidate, line, identity), .nanoseconds))
        }
    }
}
