internal import FaultlineTrace

/// How much was loaded between two uses of an object: the room that a cache of the youngest rows needs so that the second
/// use is a hit.
///
/// Of more than ``capacity`` objects a sample is followed that is chosen by hash, as Waldspurger and others do ("Efficient
/// MRC construction with SHARDS", 2015).
struct ReuseTracker: Sendable {
    static let capacity = 4096

    /// A use of an object that was used before.
    struct Reuse {
        /// What was loaded since the object itself was, as the caller counts it.
        var loadedSince: UInt64
        /// When it was used last, in nanoseconds.
        var last: UInt64
        /// How many times it was loaded in the piece of work, this one included; 0 outside of any.
        var timesInScope: UInt64
        /// How many objects each of the sample stands for.
        var weight: UInt64
    }

    private struct Object: Sendable {
        var last: UInt64
        /// What had been loaded when it was.
        var mark: UInt64
        var scope: EventID
        var timesInScope: UInt64
    }

    private var objects: [UInt64: Object] = [:]
    /// Objects whose hash has fewer leading zeros are not in the sample.
    private var leadingZeros = 0

    /// Notes a use; `nil`: it is the first, or the object is not in the sample.
    ///
    /// - Parameters:
    ///   - loaded: What was loaded so far.
    ///   - isLoad: Whether the object is loaded by this use.
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
