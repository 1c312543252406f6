internal import Histogram

/// A distribution of durations, with percentiles.
///
/// It keeps up to 1,024 values, and percentiles are exact. Beyond that it counts values in a histogram, and a
/// percentile is at most 1 % above the exact value. Distributions can be merged in any order.
public struct Distribution: Mergeable, Sendable {
    /// The maximum number of values that are kept individually.
    static let exactLimit = 1024

    /// The maximum sum of the histogram's values, 146 years: reading it sums them, which must not overflow.
    private static let largestSum: UInt64 = 1 << 62

    /// The maximum number of values in a profile file, which leaves room for sums.
    private static let largestCount: UInt64 = 1 << 48

    private var values: [UInt64] = []
    private var histogram: Histogram<UInt64>?
    /// Whether there is a histogram.
    ///
    /// Checking the optional would retain the histogram for every value.
    private var isCounting = false
    /// The sum of the histogram's values.
    private var counted: UInt64 = 0
    package private(set) var count: UInt64 = 0
    /// The sum of all values, in nanoseconds.
    package private(set) var total: UInt64 = 0
    /// The largest value, in nanoseconds, or 0 if there is none.
    package private(set) var maximum: UInt64 = 0

    /// Creates an empty distribution.
    public init() {}

    /// Adds a value, in nanoseconds.
    public mutating func record(_ value: UInt64) {
        count &+= 1
        total &+= value
        maximum = max(maximum, value)
        if !isCounting, values.count < Self.exactLimit {
            values.append(value)
        } else {
            spill()
            addToHistogram(value)
        }
    }

    /// Records a value several times.
    package mutating func record(_ value: UInt64, times: UInt64) {
        guard times > 0 else { return }
        count &+= times
        total &+= value &* times
        maximum = max(maximum, value)
        if !isCounting, times <= UInt64(Self.exactLimit - values.count) {
            values.append(contentsOf: repeatElement(value, count: Int(times)))
        } else {
            spill()
            addToHistogram(value, times: times)
        }
    }

    /// Records values that are known by their sum and number, each with their mean.
    ///
    /// The means are rounded so that the sum remains.
    mutating func record(sum: UInt64, of number: UInt64) {
        let (mean, rest) = sum.quotientAndRemainder(dividingBy: max(1, number))
        record(mean, times: number &- rest)
        record(mean &+ 1, times: rest)
    }

    /// Adds the values of another distribution.
    public mutating func merge(_ other: Distribution) {
        if histogram == nil, other.histogram == nil, values.count + other.values.count <= Self.exactLimit {
            values += other.values
        } else {
            spill()
            for value in other.values { addToHistogram(value) }
            if let others = other.histogram { addToHistogram(others, other.counted) }
        }
        count &+= other.count
        total &+= other.total
        maximum = max(maximum, other.maximum)
    }

    /// Divides the number of values and their sum; percentiles stay as they are.
    package mutating func divide(by recordings: UInt64) {
        count /= recordings
        total /= recordings
    }

    /// The smallest value that at least `percent` of all values do not exceed, or 0 if there are no values.
    ///
    /// - Parameter percent: From 0 to 100.
    /// - Complexity: O(n log n) for up to 1,024 values, and O(1) beyond.
    public func percentile(_ percent: Double) -> UInt64 {
        guard count > 0 || !values.isEmpty else { return 0 }
        if let histogram { return min(histogram.valueAtPercentile(percent), maximum) }
        let rank = Int((percent / 100 * Double(values.count)).rounded(.up))
        return values.sorted()[max(0, min(values.count, rank) - 1)]
    }

    package var mean: UInt64 { count == 0 ? 0 : total / count }

    /// The smallest value, in nanoseconds, or 0 if there is none.
    ///
    /// - Complexity: O(n) for up to 1,024 values, and O(1) beyond.
    package var minimum: UInt64 {
        if let histogram, count > 0 { return histogram.valueAtPercentile(0) }
        return values.min() ?? 0
    }

    /// Returns the number of values below the first bound, from each bound to the next, and from the last one on.
    ///
    /// - Parameter bounds: Values in ascending order.
    /// - Complexity: O(n · m) for n values or buckets and m bounds.
    package func counts(between bounds: [UInt64]) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        func add(_ value: UInt64, _ times: UInt64) {
            counts[bounds.firstIndex { value < $0 } ?? bounds.count] &+= times
        }
        for value in values { add(value, 1) }
        if let histogram { for bucket in histogram.recordedValues() { add(bucket.value, bucket.count) } }
        return counts
    }

    // MARK: - In a profile file

    /// The values, or the histogram's buckets with their counts.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        guard let histogram else { return .list(values.sorted().map { StoredValue($0) }) }
        let buckets = histogram.recordedValues().map {
            StoredValue.list([StoredValue($0.value), StoredValue($0.count)])
        }
        return .record([
            "buckets": .list(buckets), "total": StoredValue(total), "maximum": StoredValue(maximum),
        ])
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        if case .list(let values) = value {
            guard values.count <= Self.exactLimit else {
                throw StoredProblem(expected: "a list of at most \(Self.exactLimit) numbers")
            }
            for value in try value.map({ try $0.count() }) { record(value) }
            return
        }
        spill()
        let buckets = try value.member("buckets") { try $0.map { try $0.list(of: 2).map { try $0.count() } } }
        var sum: UInt64 = 0
        for bucket in buckets {
            let (product, isTooLarge) = bucket[0].multipliedReportingOverflow(by: bucket[1])
            // A bucket has the largest of its values.
            let largest = Self.largestSum + Self.largestSum / 64
            guard !isTooLarge, product <= largest, sum + product <= largest,
                count + bucket[1] <= Self.largestCount
            else { throw StoredProblem(path: ["buckets"], expected: "a list of values that could be measured") }
            sum += product
            addToHistogram(bucket[0], times: bucket[1])
            count += bucket[1]
        }
        total = try value.member("total") { try $0.count() }
        maximum = try value.member("maximum") { try $0.count() }
    }

    /// Moves the values into a histogram.
    ///
    /// With two significant digits, a bucket is at most 1/128 of its value wide.
    private mutating func spill() {
        guard !isCounting else { return }
        isCounting = true
        histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .two)
        for value in values { addToHistogram(value) }
        values = []
    }

    // MARK: - The histogram

    /// Counts a value in the histogram.
    ///
    /// A value with which the sum would exceed the largest one, as only a damaged trace has it, is counted as a smaller one.
    private mutating func addToHistogram(_ value: UInt64) {
        let value = min(value, Self.largestSum &- counted)
        counted &+= value
        histogram?.record(value)
    }

    private mutating func addToHistogram(_ value: UInt64, times: UInt64) {
        guard times > 0 else { return }
        let value = min(value, (Self.largestSum &- counted) / times)
        counted &+= value &* times
        histogram?.record(value, count: times)
    }

    private mutating func addToHistogram(_ others: Histogram<UInt64>, _ sum: UInt64) {
        guard sum <= Self.largestSum &- counted else {
            for bucket in others.recordedValues() { addToHistogram(bucket.value, times: bucket.count) }
            return
        }
        counted &+= sum
        histogram?.add(others)
    }
}
