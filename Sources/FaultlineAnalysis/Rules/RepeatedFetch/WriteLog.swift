/// The times at which entities were recently written, by the roots of their inheritance trees.
///
/// Writes arrive in any order. The log keeps the latest writes of each tree. For earlier times, it reports that there
/// may have been a write.
struct WriteLog: Sendable {
    /// The number of writes that are kept for a tree.
    static let capacity = 64

    private struct Times: Sendable {
        var latest: [ClosedRange<UInt64>] = []
        /// The latest end of a write that was dropped.
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
    /// Writes with unknown entities.
    private var unknown = Times()
    private var all = Times()

    /// - Parameter written: The trees that were written, or `nil` if unknown.
    mutating func add(_ written: Set<String>?, at time: ClosedRange<UInt64>) {
        all.add(time)
        guard let written else { return unknown.add(time) }
        for tree in written { trees[tree, default: Times()].add(time) }
    }

    /// Whether one of some trees may have been written in a time range.
    ///
    /// - Parameter read: The trees, or `nil` for any.
    func mayHaveWritten(_ read: Set<String>?, at time: ClosedRange<UInt64>) -> Bool {
        guard let read else { return all.overlap(time) }
        return unknown.overlap(time) || read.contains { trees[$0]?.overlap(time) == true }
    }
}
