internal import FaultlineAnalysis

/// The cost of each batch size, as a small table.
///
///     batch size        5  15 advised       20   50 now      100      all
///     one batch    217 µs      631 µs   837 µs  2.08 ms  4.15 ms  4.15 ms
///     Sizes 5–100 take the same total time within 10 %.
struct BatchCurveText {
    let curve: BatchCurve

    /// The sizes shown in addition to the current size, the advised one and all rows.
    ///
    /// The last ones are omitted first.
    private static let sizes: [UInt64] = [5, 100, 20, 500, 50, 5000]

    /// - Parameter width: The maximum number of characters in a line.
    func lines(width: Int) -> [String] {
        var others = Self.sizes.filter { size in
            guard let point = curve[size], let whole = curve[0] else { return false }
            return size != curve.current && size != curve.advised && point.wait < whole.wait
        }
        while true {
            let lines = table(others).lines(width: .max)
            if others.isEmpty || lines.allSatisfy({ $0.count <= width }) { return lines + equal(width) }
            others.removeLast()
        }
    }

    private func table(_ others: [UInt64]) -> TextTable {
        let shown = curve.points.filter { point in
            point.batchSize == curve.current || point.batchSize == curve.advised || point.batchSize == 0
                || others.contains(point.batchSize)
        }
        var table = TextTable(
            [.init(title: "batch size", alignment: .left)]
                + shown.map { .init(title: title($0.batchSize), alignment: .right) })
        table.add(["one batch"] + shown.map { Phrase.duration($0.wait) })
        let batched = shown.map(\.batchSize).filter { $0 > 0 }
        // If all sizes take the same total time, a sentence says so.
        if curve.equalSizes == nil || !Set(batched).isSubset(of: curve.plateau) {
            table.add(["total"] + shown.map { Phrase.duration($0.cost) })
        }
        return table
    }

    private func title(_ size: UInt64) -> String {
        let mark = size == curve.current ? " now" : size == curve.advised ? " advised" : ""
        return (size == 0 ? "all" : Phrase.count(size)) + mark
    }

    private func equal(_ width: Int) -> [String] {
        curve.equalSizes.map { TextTable.wrapped("\($0).", width: width) } ?? []
    }
}
