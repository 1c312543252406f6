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
    static let memoryLimit = Threshold(
        "R02", "batchMemory", 4_194_304.0, .size, "maximum memory of one batch")
    /// How much more than the advised size the one in force must cost.
    static let threshold = Threshold(
        "R02", "costRatio", 1.3, .factor, "minimum ratio of the current size's cost to the advised size's cost")

    private var rows: Double { Double(use.rows) / Double(max(1, use.executions)) }

    /// The curve with the size to take: the smallest of those that cost about as little as the best, and fit into memory.
    func choice(_ line: CostLine, _ identity: CostLine) -> BatchCurve? {
        var curve = BatchCurve(use, current: size, line: line, identity: identity) { point in
            (point.batchSize > 0 || mayLoadAll) && point.memory <= Self.memoryLimit.value
                && ResultUse.candidates.contains(point.batchSize) && point.batchSize <= use.maximumRows
        }
        let usesAll = use.rows > 0 && Double(use.touchedRows) >= 0.9 * Double(use.rows)
        guard let smallest = curve.plateau.first else { return nil }
        curve.advised = usesAll && curve.plateau.contains(0) ? 0 : smallest
        return curve
    }

    func finding(rule: BatchSizeRule, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let estimate = costs.rows(of: fetch.shape)
        let identity = profile.identities(of: fetch, costs).line
        guard !Significance.isMost(use.limitedExecutions, of: use.executions) || size > 0,
            let curve = choice(estimate.line, identity), curve.advised != size, !curve.plateau.contains(size)
        else { return nil }
        let advised = curve.advised
        let (now, then) = (curve.cost(size), curve.cost(advised))
        let memory = curve[size]?.memory ?? 0
        guard now >= then * Self.threshold.value || memory > Self.memoryLimit.value else { return nil }
        let saving = estimate.range { line in
            BatchCurve.cost(of: use, size, line, identity) - BatchCurve.cost(of: use, advised, line, identity)
        }
        let figure =
            memory > Self.memoryLimit.value
            ? max(now / max(1, then), memory / Self.memoryLimit.value) : now / max(1, then)
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: title(advised), change: fetch.site,
            score: Score.of(figure - 1, info: 0.3, warning: 4), fix: fix(curve),
            code: ["request.fetchBatchSize = \(advised)"], saving: Saving(time: Saving.Range(saving)),
            confidence: use.runsLost > 0 ? min(.medium, estimate.confidence) : estimate.confidence,
            signature: BatchSizeRule.signature(fetch))
        let (before, after) = (use.loadings[size] ?? .init(), use.loadings[advised] ?? .init())
        let identityTrips = { (size: UInt64) in size > 0 ? Int64(clamping: use.executions) : 0 }
        finding.saving.trips =
            Int64(clamping: before.batches) - Int64(clamping: after.batches) + identityTrips(size)
            - identityTrips(advised)
        finding.saving.rows = Int64(clamping: before.rows) - Int64(clamping: after.rows)
        finding.saving.bytes = Int64(saturating: Double(finding.saving.rows) * use.rowSize)
        finding.saving.memory = Int64(saturating: max(0, memory - (curve[advised]?.memory ?? 0)))
        finding.seenAt = BatchSizeRule.seenAt(use)
        finding.scopes = use.loadScopes.names
        finding.claims = [Claim.loads(fetch, profile)]
        finding.remedy = .change(fetch, FetchChange(batchSize: UInt32(clamping: advised)))
        describe(&finding, curve)
        let isMain = Significance.isMost(use.mainThreadLoads, of: use.loads)
        if memory <= Self.memoryLimit.value,
            !Significance.isMet(
                saving: saving.median, wallTime: profile.wallTime(of: use.loadScopes.keys), isMainThread: isMain)
        {
            finding.downgrade(Significance.tooLittle() + ".")
        }
        return finding
    }

    private func title(_ advised: UInt64) -> Wording {
        let now: Wording = size == 0 ? "now all rows at once" : "now \(count: size, of: .rows)"
        return advised == 0
            ? "Load \(entity: fetch.shape.entity) at once, without batches (\(now))"
            : "Set the batch size of \(entity: fetch.shape.entity) to \(count: advised, of: .rows) (\(now))"
    }

    private func fix(_ curve: BatchCurve) -> Wording {
        let equal = curve.equalSizes
        if use.isScattered {
            return curve.advised == 0
                ? "The program reads scattered rows, and one trip for all of them costs less than one for nearly each."
                : "The program reads scattered rows, and small batches load the fewest that are never used."
        }
        if curve.advised == 0 {
            return "All rows are used, and they fit into memory.\(equal.map { " \($0)." as Wording } ?? "")"
        }
        return equal.map { "\($0); the smallest of them takes the least memory." }
            ?? "The work needs these rows in larger pieces."
    }

    private func describe(_ finding: inout Finding, _ curve: BatchCurve) {
        let manner = use.isScattered ? "here and there" : "without pauses"
        finding.explanation = [
            "\(count: use.touchedRows, of: .rows) of \(rows: use.rows) were used \(manner), in "
                + "\(count: use.executions, "result")."
        ]
        if use.isScattered {
            finding.alternatives = [
                "Fetch just these rows, by a predicate or by their IDs: then nothing else is loaded."
            ]
        }
        if use.isScattered, use.loadedRows >= 2 &* use.touchedRows {
            let each = Double(use.loadedRows) / Double(use.touchedRows)
            finding.explanation.append(
                "\(decimal: each, places: 0, of: .rows) rows were loaded for each that was used.")
        }
        finding.evidence = [
            Evidence("batchSize", size, .rows), Evidence("advisedBatchSize", curve.advised, .rows),
            Evidence("executions", use.executions, .count), Evidence("matchedRows", use.rows, .rows),
            Evidence("loadedRows", use.loadedRows, .rows), Evidence("touchedRows", use.touchedRows, .rows),
            Evidence("rowBytes", use.rowSize, .bytes),
        ]
        finding.batchCurve = curve
    }
}
