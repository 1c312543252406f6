/// Time and counts by when they happened, in bins of equal width.
///
/// The bins become wider when there are too many of them, so a trace of any length takes the same memory. Bins without
/// events take none.
struct BinnedTime: Sendable {
    /// The contents of a bin.
    private struct Bin {
        /// Covered time in nanoseconds, at most the bin's width.
        var covered: UInt64 = 0
        var events: UInt64 = 0
        /// The largest level.
        var level: UInt64 = 0
        /// The time of the latest event or level, so that few of them keep their place.
        var latest: UInt64 = 0

        mutating func add(_ other: Bin) {
            covered &+= other.covered
            events &+= other.events
            level = max(level, other.level)
            latest = max(latest, other.latest)
        }

        mutating func cover(_ time: UInt64, of width: UInt64) { covered = min(width, covered &+ time) }
    }

    /// The maximum number of bins: about twenty for each column of a terminal.
    static let most = 2048

    /// The bins' width is a power of two, because two bins must become one.
    private var shift: UInt64 = 10
    private var bins: [UInt64: Bin] = [:]

    /// The number of bins in memory.
    var count: Int { bins.count }

    private var width: UInt64 { 1 &<< shift }

    /// Counts events at a time.
    mutating func count(_ events: UInt64, at time: UInt64) {
        bins[time &>> shift, default: Bin()].add(Bin(events: events, latest: time))
        fit()
    }

    /// Records a level at a time.
    mutating func record(level: UInt64, at time: UInt64) {
        bins[time &>> shift, default: Bin()].add(Bin(level: level, latest: time))
        fit()
    }

    /// Covers the time from `start` to `end`.
    ///
    /// - Parameter time: The time to distribute evenly over the interval, if the events did not take up all of it.
    /// - Complexity: O(bins in the interval).
    mutating func cover(from start: UInt64, to end: UInt64, time: UInt64? = nil) {
        guard end > start else { return }
        while (end - 1) &>> shift - start &>> shift >= UInt64(Self.most / 2) { widen() }
        let share = time.map { min(1, Double($0) / Double(end - start)) }
        for index in (start &>> shift)...((end - 1) &>> shift) {
            let first = index &<< shift
            let overlap = min(end - first, width) - (start > first ? start - first : 0)
            let covered = share.map { UInt64(Double(overlap) * $0) } ?? overlap
            bins[index, default: Bin()].cover(covered, of: width)
        }
        fit()
    }

    private mutating func fit() {
        while bins.count > Self.most { widen() }
    }

    /// Doubles the bins' width.
    private mutating func widen() {
        shift += 1
        var wider: [UInt64: Bin] = [:]
        for (index, bin) in bins { wider[index &>> 1, default: Bin()].add(bin) }
        bins = wider
    }

    /// Returns columns of equal width for a range of time.
    ///
    /// - Parameter holdsLevel: Whether a column without a level has that of the column before it.
    func columns(_ number: Int, over range: ClosedRange<UInt64>, holdsLevel: Bool = false) -> [EventTimeline.Column] {
        var columns = [EventTimeline.Column](repeating: .init(), count: number)
        let from = Double(range.lowerBound)
        let columnWidth = max(1, Double(range.upperBound - range.lowerBound)) / Double(number)
        func position(_ time: Double) -> Double { (time - from) / columnWidth }
        for index in bins.keys.sorted() {
            guard let bin = bins[index] else { continue }
            let first = max(from, Double(index) * Double(width))
            let last = min(Double(range.upperBound), (Double(index) + 1) * Double(width))
            guard first <= last else { continue }
            let (begin, end) = (position(first), max(position(first), position(last)))
            let latest = min(number - 1, max(0, Int(position(Double(bin.latest)))))
            columns[latest].events &+= bin.events
            columns[latest].level = max(columns[latest].level, bin.level)
            for column in min(number - 1, Int(begin))...min(number - 1, Int(end)) where end > begin {
                let overlap = min(Double(column + 1), end) - max(Double(column), begin)
                columns[column].covered += Double(bin.covered) * max(0, overlap) / (end - begin)
            }
        }
        for column in columns.indices {
            columns[column].covered = min(columns[column].covered, columnWidth)
            if holdsLevel, columns[column].level == 0, column > 0 { columns[column].level = columns[column - 1].level }
        }
        return columns
    }
}
