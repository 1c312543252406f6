package import FaultlineTrace

/// The sampled memory of a process that is allocated at a time, by place.
///
/// A place distinguishes allocations: a call path, or a scope with one.
package struct LiveHeap<Place: Hashable & Sendable>: Sendable {
    private struct Block: Sendable {
        var place: Place
        var bytes: UInt64
    }

    private var blocks: [EventID: Block] = [:]
    /// The bytes that are allocated now, by place.
    package private(set) var live: [Place: UInt64] = [:]
    /// The bytes that are allocated now.
    package private(set) var total: UInt64 = 0
    /// The most bytes that were allocated at a time.
    package private(set) var peak: UInt64 = 0
    private var placesAtPeak: [Place: UInt64] = [:]
    /// The peak when the places were last copied.
    private var copiedPeak: UInt64 = 0

    package init() {}

    /// Adds an allocation.
    package mutating func allocate(_ id: EventID, _ bytes: UInt64, at place: Place) {
        blocks[id] = Block(place: place, bytes: bytes)
        live[place, default: 0] &+= bytes
        total &+= bytes
        peak = max(peak, total)
    }

    /// Removes an allocation that was freed.
    ///
    /// - Returns: Its place and its bytes, or `nil` if it is not known.
    @discardableResult
    package mutating func free(_ id: EventID) -> (place: Place, bytes: UInt64)? {
        guard let block = blocks.removeValue(forKey: id) else { return nil }
        // The places are copied when memory begins to shrink. A peak that is hardly higher than the last is left out,
        // because memory that grows by small steps back and forth would be copied at each.
        if total == peak, peak > copiedPeak &+ copiedPeak / 100 { copyPlaces() }
        let rest = (live[block.place] ?? 0) - min(block.bytes, live[block.place] ?? 0)
        live[block.place] = rest == 0 ? nil : rest
        total -= min(total, block.bytes)
        return (block.place, block.bytes)
    }

    /// Returns the bytes that were allocated at the peak, by place.
    ///
    /// They are those of a time when at least 99 % of the most memory was allocated.
    package mutating func atPeak() -> [Place: UInt64] {
        if total > copiedPeak { copyPlaces() }
        return placesAtPeak
    }

    private mutating func copyPlaces() {
        (placesAtPeak, copiedPeak) = (live, total)
    }
}
