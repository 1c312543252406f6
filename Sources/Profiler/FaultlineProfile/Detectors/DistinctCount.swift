internal import FaultlineTrace

/// Counts distinct objects in bounded memory: exactly up to its capacity, and within about 7 % beyond it.
///
/// It keeps the smallest hashes seen (Bar-Yossef and others, "Counting distinct elements in a data stream", 2002), so
/// partial counts can be united in any order.
package struct DistinctCount: Sendable, Hashable {
    package static let capacity = 256

    /// In ascending order.
    private var hashes: [UInt64] = []

    package init() {}

    package mutating func insert(_ object: UInt64) {
        let hash = StableHash.mix(object)
        if hashes.count == Self.capacity, hash >= hashes[Self.capacity - 1] { return }
        var low = 0
        var high = hashes.count
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        guard low == hashes.count || hashes[low] != hash else { return }
        hashes.insert(hash, at: low)
        if hashes.count > Self.capacity { hashes.removeLast() }
    }

    package mutating func formUnion(_ other: DistinctCount) {
        let union = Set(hashes).union(other.hashes)
        hashes = Array(union.sorted().prefix(Self.capacity))
    }

    /// The number of distinct objects among `all`.
    ///
    /// Beyond the capacity, the count is an estimate. An estimate within its error of `all` is taken to mean that all
    /// are distinct.
    package func count(of all: UInt64) -> UInt64 {
        let count = UInt64(self.count)
        let isEstimate = hashes.count == Self.capacity && all > UInt64(Self.capacity)
        return isEstimate && Double(count) >= 0.85 * Double(all) ? all : min(count, all)
    }

    package var count: Int {
        guard hashes.count == Self.capacity else { return hashes.count }
        let share = Double(hashes[Self.capacity - 1]) / Double(UInt64.max)
        return Int((Double(Self.capacity - 1) / share).rounded())
    }
}
