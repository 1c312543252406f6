/// A result that the program reads without pauses, where the total time and memory matter.
struct BulkBatches {
    /// The batch size in force; 0: none.
    let size: UInt64
    let use: ResultUse
    let fetch: FetchProfile.Key
    /// Whether all rows may be loaded at once, provided that they are used and fit; R14 advises against that where there
    /// are many.
    let mayLoadAll: Bool

    /// The maximum memory that the rows of one batch may take, in bytes.
    static let memoryLimit = Threshold(
        "R02", "batchMemory", 4_194_304.0, .size, "maximum memory of one batch")
    /// How much more than the advised size the one in force must cost.
    static let threshold = Threshold(
        "R02", "costRatio", 1.3, .factor, "minimum ratio of the current size's cost to the advised size's cost")

    /// The curve of costs with the size to choose: the smallest that costs about as little as the cheapest and fits into
    /// memory.
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

    /// The curve if another size is clearly better than the one in force, or if the one in force takes too much memory.
    func improvement(_ line: CostLine, _ identity: CostLine) -> BatchCurve? {
        guard !Significance.isMost(use.limitedExecutions, of: use.executions) || size > 0,
            let curve = choice(line, identity), curve.advised != size, !curve.plateau.contains(size),
            curve.cost(size) >= curve.cost(curve.advised) * Self.threshold.value
                || (curve[size]?.memory ?? 0) > Self.memoryLimit.value
        else { return nil }
        return curve
    }
}
