internal import FaultlineFindings
internal import FaultlineProfile

/// A result that the program reads without pauses, where the total time and memory matter.
struct BulkBatches {
    /// The current batch size, or 0 if there is none.
    let size: UInt64
    let use: ResultUse
    let fetch: FetchProfile.Key
    /// Whether all rows may be loaded at once if they are used and fit.
    ///
    /// R14 advises against it if there are many.
    let mayLoadAll: Bool
    /// Whether the program changes the rows, so that their objects stay in memory until they are saved.
    let keepsObjects: Bool

    /// The maximum memory of one batch's rows, in bytes.
    static let memoryLimit = Threshold(
        "R02", "batchMemory", 4_194_304.0, .size, "maximum memory of one batch")
    /// The memory of one batch up to which fewer trips are worth more than less memory, in bytes, and its rows.
    private static let littleMemory = 1_048_576.0
    private static let mostRows: UInt64 = 500

    /// The minimum ratio of the current size's cost to the advised size's.
    static let threshold = Threshold(
        "R02", "costRatio", 1.3, .factor, "minimum ratio of the current size's cost to the advised size's cost")

    /// The curve with the advised size.
    ///
    /// Of the sizes that are about as cheap as the best and fit the memory limit, it is the largest one that takes little memory,
    /// because it needs the fewest trips. Scattered rows need the smallest.
    private func choice(_ line: CostLine, _ identity: CostLine) -> BatchCurve? {
        var curve = BatchCurve(use, current: size, line: line, identity: identity) { point in
            (point.batchSize > 0 || mayLoadAll) && point.memory <= Self.memoryLimit.value
                && ResultUse.candidates.contains(point.batchSize) && point.batchSize <= use.maximumRows
        }
        let usesAll = use.rows > 0 && Double(use.touchedRows) >= 0.9 * Double(use.rows)
        guard let smallest = curve.plateau.first else { return nil }
        // Without row sizes, nothing shows which batches take little memory.
        let largest = curve.plateau.last { size in
            use.rowSize > 0 && size > 0 && size <= Self.mostRows && (curve[size]?.memory ?? 0) <= Self.littleMemory
        }
        let batch = use.isScattered ? smallest : largest ?? smallest
        curve.advised = usesAll && curve.plateau.contains(0) ? 0 : batch
        return curve
    }

    /// The curve if another size is clearly better than the current one, or if the current one takes too much memory.
    func improvement(_ line: CostLine, _ identity: CostLine) -> BatchCurve? {
        guard !Significance.isMost(use.limitedExecutions, of: use.executions) || size > 0,
            let curve = choice(line, identity), curve.advised != size, !curve.plateau.contains(size),
            curve.cost(size) >= curve.cost(curve.advised) * Self.threshold.value
                || memory(size, curve) > Self.memoryLimit.value
        else { return nil }
        return curve
    }

    /// The memory that a size takes and that another would save, in bytes.
    func memory(_ size: UInt64, _ curve: BatchCurve) -> Double { keepsObjects ? 0 : curve[size]?.memory ?? 0 }
}
