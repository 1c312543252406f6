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
        /// The number of levels of slices that it was added around, with its own.
        var height = 1

        /// Adds a slice, as ``TrackNesting/add(_:_:)`` does.
        static func add(_ new: Slice, to slices: inout [Slice], depth: Int = 0) -> Bool {
            // Most slices come in the order of their ends, so those that they overlap are the last ones.
            var last = slices.count
            while last > 0, slices[last - 1].start >= new.end { last -= 1 }
            var first = last
            while first > 0, slices[first - 1].end > new.start { first -= 1 }
            if (first..<last).allSatisfy({ new.start <= slices[$0].start && slices[$0].end <= new.end }) {
                var whole = new
                whole.height += (first..<last).reduce(0) { max($0, slices[$1].height) }
                // A damaged trace can nest slices without limit. Slices that are dropped here are not compared again.
                if whole.height <= deepest { whole.inner = Array(slices[first..<last]) } else { whole.height = 1 }
                slices.replaceSubrange(first..<last, with: [whole])
                return true
            }
            guard last - first == 1, slices[first].start <= new.start, new.end <= slices[first].end, depth < deepest
            else { return false }
            return add(new, to: &slices[first].inner, depth: depth + 1)
        }

        private static let deepest = 256
    }

    /// The outermost slices of the recent past; earlier ones are forgotten, so a long trace does not fill the memory.
    private var slices: [Slice] = []
    /// The maximum number of outermost slices.
    private static let limit = 1 << 16
    /// The slices that were added since those within others were last forgotten.
    private var added = 0

    /// Adds a slice, unless it begins or ends within another one without being a part of it.
    ///
    /// - Returns: Whether it was added.
    mutating func add(_ start: UInt64, _ end: UInt64) -> Bool {
        // A slice without a length overlaps none.
        guard start < end else { return true }
        guard Slice.add(Slice(start: start, end: end), to: &slices) else { return false }
        if slices.count > Self.limit { slices.removeFirst(Self.limit / 2) }
        added += 1
        if added > 2 * Self.limit {
            // The last ones are enough for slices that come out of order.
            for index in slices.indices.dropLast(Self.limit / 64) { slices[index].inner = [] }
            added = 0
        }
        return true
    }
}
