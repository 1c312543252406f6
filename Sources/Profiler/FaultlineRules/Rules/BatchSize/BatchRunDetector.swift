internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// An open run of batches that one result loads, one after the other.
struct OpenBatchRun: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        /// The fetch that the batches belong to, and its index in the tables.
        var fetch: EventID
        var index: Int
    }

    var repetition = Repetition()
    /// The first row of the first batch.
    var first: UInt64 = .max
    /// The rows that the fetch found, and the size of its batches.
    var found: UInt64 = 0
    var size: UInt64 = 0

    mutating func merge(_ other: OpenBatchRun) {
        repetition.merge(other.repetition)
        (first, found, size) = (min(first, other.first), max(found, other.found), max(size, other.size))
    }
}

/// Detects batches that follow one another in traces without the use of results, such as Core Data's log.
///
/// A program that loads batch after batch reads the rows, although the trace does not show which.
struct BatchRunDetector: EvidenceDetector {
    static let name = "batchRuns"
    static let kinds: Set<EventKind> = [.batch]
    private static let capacity = 4096

    /// The minimum number of batches that show how rows are read.
    static let minimumBatches = Threshold(
        "R02", "minimumBatches", 10, .count,
        "minimum consecutive batches that stand in for the use of results in a log")

    var evidence: [FetchProfile.Key: BatchRunEvidence] = [:]
    private var open = BoundedTable<OpenBatchRun.Key, OpenBatchRun>(capacity: capacity)

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .batch(let batch) = event.detail, batch.rows > 0, batch.error == 0,
            context.summary.gaps.contains(where: { $0.kind == .use }),
            let fetch = context.fetches.read(batch.fetch, { (index: $0.index, rows: $0.rows, size: $0.batchSize) })
        else { return }
        let key = OpenBatchRun.Key(scope: event.scope, fetch: batch.fetch, index: fetch.index)
        if let run = open.removeIfOver(key, before: event, in: context) {
            evaluate([(key, run)], in: &context, tables)
        }
        if !open.contains(key), let evicted = open.insert(OpenBatchRun(), for: key) {
            evaluate([evicted], in: &context, tables)
        }
        open.add(event, rows: UInt64(batch.rows), to: key, in: &context) { run in
            run.first = min(run.first, UInt64(batch.firstIndex))
            (run.found, run.size) = (max(run.found, fetch.rows), max(run.size, UInt64(fetch.size)))
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context, tables)
    }

    private mutating func evaluate(
        _ open: [(key: OpenBatchRun.Key, value: OpenBatchRun)], in context: inout ProcessContext,
        _ tables: ProfileTables
    ) {
        for (key, run) in context.units(of: open) {
            let repetition = run.repetition
            guard repetition.executions >= Self.minimumBatches.count else { continue }
            let evidenceKey = tables.fetches[key.index].key
            var found = BatchRunEvidence(
                repetition,
                in: surroundings(of: key.scope, for: evidenceKey, outside: repetition.wallTime, in: &context))
            var use = TraceEvent.Use()
            (use.rows, use.batchSize) = (UInt32(clamping: run.found), UInt32(clamping: run.size))
            use.loadedRows = UInt32(clamping: repetition.rows)
            (use.touchedRows, use.batchesLoaded) = (use.loadedRows, UInt32(clamping: repetition.executions))
            use.runs = [TraceEvent.Use.Run(first: run.first, rows: repetition.rows)]
            found.use.add(use, isLimited: evidenceKey.shape.isLimited)
            found.size = run.size
            // With the times of a clock, there always is some time between two batches.
            found.timedRuns = repetition.waiting > 0 ? 1 : 0
            add(found, to: evidenceKey)
        }
    }
}

extension Profile {
    /// Batches that followed one another, in traces without the use of results.
    var batchRuns: [(key: FetchProfile.Key, evidence: BatchRunEvidence)] { evidence(of: BatchRunDetector.self) }
}

/// Batches of one fetch that followed one another.
struct BatchRunEvidence: RunEvidence {
    var runs = RunSums()
    /// The size of the batches.
    var size: UInt64 = 0
    /// The number of occurrences with times at which the batches began.
    var timedRuns: UInt64 = 0
    /// The use of the rows that the batches loaded.
    var use = ResultUse()

    static let parts: [SumPart<BatchRunEvidence>] = [
        .members(\.runs), .maximum("size", \.size), .sum("timedRuns", \.timedRuns), .part("use", \.use),
    ]
}

extension BatchRunEvidence {
    /// The ratio of the cost of a trip to that of a row: the usual one, and its range.
    private static let tripsPerRow = (usual: 10.0, least: 3.0, most: 30.0)

    /// The cost of a trip and of a row, from the shape's batches.
    ///
    /// If all of them have one size, their time does not show the two apart, and a ratio is assumed.
    fileprivate func estimate(_ fitted: CostModel.Estimate) -> CostModel.Estimate {
        guard fitted.basis != .shape, runs.time > 0 else { return fitted }
        let line = { (ratio: Double) in
            let row = Double(runs.time) / (ratio * Double(runs.executions) + Double(max(1, runs.rows)))
            return CostLine(trip: ratio * row, row: row)
        }
        var estimate = fitted
        (estimate.line, estimate.basis) = (line(Self.tripsPerRow.usual), .assumed)
        estimate.alternatives = [line(Self.tripsPerRow.least), line(Self.tripsPerRow.most)]
        return estimate
    }
}

extension BatchSizeRule {
    /// The finding about batches that are too small for how the program reads them, as far as the batches themselves show it.
    func finding(
        for evidence: BatchRunEvidence, _ key: FetchProfile.Key, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        guard BatchDemand.isUsedOften(evidence.use) else { return nil }
        let bulk = BulkBatches(
            size: evidence.size, use: evidence.use, fetch: key, mayLoadAll: false, keepsObjects: false)
        let identities = profile.identities(of: key, costs).line
        let estimate = evidence.estimate(costs.rows(of: key.shape))
        guard let curve = bulk.improvement(estimate.line, identities), curve.advised > evidence.size else { return nil }
        var finding = bulk.finding(rule: self, curve, profile, costs, estimate: estimate)
        let batches: Wording = "\(count: evidence.executions, "batch", plural: "batches")"
        finding.explanation = [
            "\(batches) of \(rows: evidence.size) followed one another, for \(count: evidence.rows, of: .rows) of "
                + "\(rows: evidence.use.rows): \(duration: evidence.time) in all."
        ]
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.evidence.append(Evidence("batches", evidence.executions, .count))
        if estimate.basis == .assumed {
            finding.confidence = .low("all batches have one size, so the cost of a trip is assumed")
        }
        if evidence.timedRuns < evidence.occurrences {
            finding.confidence = min(finding.confidence, .medium("the trace does not show pauses between the batches"))
            finding.severity = min(finding.severity, .warning)
            finding.alternatives.append(
                "If a user scrolls through the rows, set one and a half times the rows that a screen shows.")
        }
        return finding
    }
}
