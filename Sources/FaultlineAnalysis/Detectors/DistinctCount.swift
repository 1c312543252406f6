internal import FaultlineTrace

/// Counts distinct objects in bounded memory: exactly up to its capacity, and within about 7 % beyond it.
///
/// It keeps the smallest hashes that it has seen (Bar-Yossef and others, "Counting distinct elements in a data stream",
/// 2002), so that counts of parts can be united in any order.
struct DistinctCount: Sendable, Hashable {
    static let capacity = 256

    /// Sorted, smallest first.
    private var hashes: [UInt64] = []

    mutating func insert(_ object: UInt64) {
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

    mutating func formUnion(_ other: DistinctCount) {
        let union = Set(hashes).union(other.hashes)
        hashes = Array(union.sorted().prefix(Self.capacity))
    }

    /// How many objects are distinct of so many.
    ///
    /// Beyond the capacity the count is an estimate: one that comes as near to all of them as it can be wrong says that
    /// all are.
    func count(of all: UInt64) -> UInt64 {
        let count = UInt64(self.count)
        let isEstimate = hashes.count == Self.capacity && all > UInt64(Self.capacity)
        return isEstimate && Double(count) >= 0.85 * Double(all) ? all : min(count, all)
    }

    /// A count with its noun, which says where it is an estimate: `about 970 values`.
    ///
    /// - Parameter occasions: On how many occasions so many were counted together.
    static func words(_ count: UInt64, over occasions: UInt64, _ noun: String) -> Wording {
        let isEstimate = count / max(1, occasions) > UInt64(capacity)
        return "\(isEstimate ? "about " : "")\(count: count, noun)"
    }

    var count: Int {
        guard hashes.count == Self.capacity else { return hashes.count }
        let share = Double(hashes[Self.capacity - 1]) / Double(UInt64.max)
        return Int((Double(Self.capacity - 1) / share).rounded())
    }
}
