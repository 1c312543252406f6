/// When entities were written lately, by the tops of their inheritance trees.
///
/// Writes come in any order. Of each tree the latest are remembered; whoever asks for a time before those is told that
/// there may have been one.
struct WriteLog: Sendable {
    /// Writes that are remembered of a tree.
    static let capacity = 64

    private struct Times: Sendable {
        var latest: [ClosedRange<UInt64>] = []
        /// When the last one ended that is not remembered.
        var forgotten: UInt64?

        mutating func add(_ time: ClosedRange<UInt64>) {
            latest.append(time)
            guard latest.count > WriteLog.capacity else { return }
            let oldest = latest.indices.min { latest[$0].upperBound < latest[$1].upperBound } ?? 0
            forgotten = max(forgotten ?? 0, latest.remove(at: oldest).upperBound)
        }

        func overlap(_ time: ClosedRange<UInt64>) -> Bool {
            forgotten.map { $0 >= time.lowerBound } == true || latest.contains { $0.overlaps(time) }
        }
    }

    private var trees: [String: Times] = [:]
    /// Writes of which it is not known what they wrote.
    private var unknown = Times()
    private var all = Times()

    /// - Parameter written: The trees that were written; `nil`: it is not known.
    mutating func add(_ written: Set<String>?, at time: ClosedRange<UInt64>) {
        all.add(time)
        guard let written else { return unknown.add(time) }
        for tree in written { trees[tree, default: Times()].add(time) }
    }

    /// Whether one of some trees may have been written at a time.
    ///
    /// - Parameter read: The trees; `nil`: any.
    func mayHaveWritten(_ read: Set<String>?, at time: ClosedRange<UInt64>) -> Bool {
        guard let read else { return all.overlap(time) }
        return unknown.overlap(time) || read.contains { trees[$0]?.overlap(time) == true }
    }
}
