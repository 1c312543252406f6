internal import FaultlineTrace

/// Tracks how much is loaded between two uses of an object: the size that a cache of the youngest rows needs for the
/// second use to be a hit.
///
/// With more than ``capacity`` objects, it follows a sample chosen by hash, like Waldspurger and others ("Efficient MRC
/// construction with SHARDS", 2015).
struct ReuseTracker: Sendable {
    static let capacity = 4096

    /// A repeated use of an object.
    struct Reuse {
        /// The amount loaded since the object was, in the caller's unit.
        var loadedSince: UInt64
        /// The time of the previous use, in nanoseconds.
        var last: UInt64
        /// The number of loads of the object in the unit of work, including this one, or 0 outside any.
        var timesInScope: UInt64
        /// The number of objects that each object in the sample stands for.
        var weight: UInt64
    }

    private struct Object: Sendable {
        var last: UInt64
        /// The total amount loaded when the object was.
        var mark: UInt64
        var scope: EventID
        var timesInScope: UInt64
    }

    private var objects: [UInt64: Object] = [:]
    /// The minimum number of leading zeros in the hash of an object in the sample.
    private var leadingZeros = 0

    /// Records a use.
    ///
    /// Returns `nil` if it is the first, or the object is not in the sample.
    ///
    /// - Parameters:
    ///   - loaded: The total amount loaded so far.
    ///   - isLoad: Whether this use loads the object.
    mutating func use(
        _ object: UInt64, in scope: EventID, at time: UInt64, loaded: UInt64, isLoad: Bool
    ) -> Reuse? {
        let hash = StableHash.mix(object)
        guard hash.leadingZeroBitCount >= leadingZeros else { return nil }
        guard let index = objects.index(forKey: hash) else {
            objects[hash] = Object(last: time, mark: loaded, scope: scope, timesInScope: isLoad ? 1 : 0)
            if objects.count > Self.capacity { thin() }
            return nil
        }
        var known = objects.values[index]
        known.timesInScope = (known.scope == scope ? known.timesInScope : 0) &+ (isLoad ? 1 : 0)
        let reuse = Reuse(
            loadedSince: loaded &- min(loaded, known.mark), last: known.last,
            timesInScope: scope == 0 ? 0 : known.timesInScope,
            weight: 1 << leadingZeros)
        (known.last, known.scope) = (time, scope)
        if isLoad { known.mark = loaded }
        objects.values[index] = known
        return reuse
    }

    /// Halves the sample until it fits.
    private mutating func thin() {
        while objects.count > Self.capacity {
            leadingZeros += 1
            objects = objects.filter { $0.key.leadingZeroBitCount >= leadingZeros }
        }
    }
}
