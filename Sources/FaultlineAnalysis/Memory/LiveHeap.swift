public import FaultlineTrace

/// The sampled memory of a process that is allocated at a time, by place.
///
/// A place is whatever tells allocations apart: a call path, or a scope with one.
public struct LiveHeap<Place: Hashable & Sendable>: Sendable {
    private struct Block: Sendable {
        var place: Place
        var bytes: UInt64
    }

    private var blocks: [EventID: Block] = [:]
    /// The bytes that are allocated now, by place.
    public private(set) var live: [Place: UInt64] = [:]
    /// The bytes that are allocated now.
    public private(set) var total: UInt64 = 0
    /// The most bytes that were allocated at a time.
    public private(set) var peak: UInt64 = 0
    private var placesAtPeak: [Place: UInt64] = [:]
    /// The peak when the places were last copied.
    private var copiedPeak: UInt64 = 0

    public init() {}

    /// Adds an allocation, or removes one that was freed.
    ///
    /// - Parameter place: The place of an allocation.
    /// - Returns: The place and the bytes of an allocation that was freed, if it is known.
    @discardableResult
    public mutating func add(
        _ event: TraceEvent, _ allocation: TraceEvent.Allocation, at place: @autoclosure () -> Place
    ) -> (place: Place, bytes: UInt64)? {
        guard allocation.allocation != 0 else {
            let place = place()
            blocks[event.id] = Block(place: place, bytes: allocation.bytes)
            live[place, default: 0] &+= allocation.bytes
            total &+= allocation.bytes
            peak = max(peak, total)
            return nil
        }
        guard let block = blocks.removeValue(forKey: allocation.allocation) else { return nil }
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
    public mutating func atPeak() -> [Place: UInt64] {
        if total > copiedPeak { copyPlaces() }
        return placesAtPeak
    }

    private mutating func copyPlaces() {
        (placesAtPeak, copiedPeak) = (live, total)
    }
}
