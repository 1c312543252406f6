/// The slices of one track, which viewers show nested in one another.
///
/// The recorder's events of a thread are nested or follow one another. Those of a log may overlap, because its times
/// are rounded, or because it does not distinguish threads.
struct TrackNesting {
    /// A slice, with those within it.
    private struct Slice {
        var start: UInt64
        var end: UInt64
        /// In the order of their starts, without overlaps.
        var inner: [Slice] = []

        /// Adds a slice, as ``TrackNesting/add(_:_:)`` does.
        static func add(_ new: Slice, to slices: inout [Slice]) -> Bool {
            // Most slices come in the order of their ends, so those that they overlap are the last ones.
            var last = slices.count
            while last > 0, slices[last - 1].start >= new.end { last -= 1 }
            var first = last
            while first > 0, slices[first - 1].end > new.start { first -= 1 }
            let overlapped = slices[first..<last]
            if overlapped.allSatisfy({ new.start <= $0.start && $0.end <= new.end }) {
                var whole = new
                whole.inner = Array(overlapped)
                slices.replaceSubrange(first..<last, with: [whole])
                return true
            }
            guard overlapped.count == 1, slices[first].start <= new.start, new.end <= slices[first].end else {
                return false
            }
            return add(new, to: &slices[first].inner)
        }
    }

    /// The outermost slices of the recent past; earlier ones are forgotten, so a long trace does not fill the memory.
    private var slices: [Slice] = []
    private static let limit = 1 << 16

    /// Adds a slice, unless it begins or ends within another one without being a part of it.
    ///
    /// - Returns: Whether it was added.
    mutating func add(_ start: UInt64, _ end: UInt64) -> Bool {
        // A slice without a length overlaps none.
        guard start < end else { return true }
        guard Slice.add(Slice(start: start, end: end), to: &slices) else { return false }
        if slices.count > Self.limit { slices.removeFirst(Self.limit / 2) }
        return true
    }
}
