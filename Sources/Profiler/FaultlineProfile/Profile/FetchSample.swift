package import FaultlineTrace

/// A sample of the individual fetches of one line, which a trial can repeat.
///
/// It uses priority sampling (Duffield, Lund, Thorup: "Priority sampling for estimation of arbitrary subset sums",
/// 2007). Long fetches are kept rather than short ones, and each is weighted so that sums over the sample are unbiased.
/// Only the fetches' hashes and weights decide which are kept, so partial samples can be merged in any order.
package struct FetchSample: Sendable, Hashable {
    /// One fetch, and the use of its rows.
    package struct Execution: Sendable, Hashable {
        /// The number of rows that matched.
        package var rows: UInt64
        package var limit: UInt64
        package var offset: UInt64
        package var batchSize: UInt64
        /// The request's values as JSON (see `PredicateValue`), if the trace has them.
        package var values: String?
        /// The runs of consecutive rows that were used.
        ///
        /// Empty if the trace does not have the result's end.
        package var runs: [TraceEvent.Use.Run] = []

        package init(
            rows: UInt64, limit: UInt64, offset: UInt64, batchSize: UInt64, values: String? = nil,
            runs: [TraceEvent.Use.Run] = []
        ) {
            self.rows = rows
            self.limit = limit
            self.offset = offset
            self.batchSize = batchSize
            self.values = values
            self.runs = runs
        }

        /// The approximate cost in rows.
        ///
        /// A trip counts as ten rows.
        package var size: UInt64 { rows &+ FetchSample.trip }

        fileprivate var weight: UInt64 {
            min(size, UInt64(StoredValue.largest) / FetchSample.parts) * FetchSample.parts
        }

        fileprivate var numbers: [UInt64] { [rows, limit, offset, batchSize] + runs.flatMap { [$0.first, $0.rows] } }

        fileprivate func precedes(_ other: Execution) -> Bool {
            numbers == other.numbers
                ? (values ?? "") < (other.values ?? "") : numbers.lexicographicallyPrecedes(other.numbers)
        }
    }

    /// The maximum number of fetches that are kept, and of runs of each.
    static let capacity = 8
    static let maximumRuns = 16
    /// The cost of a trip, in rows.
    package static let trip: UInt64 = 10
    /// The resolution of weights, in parts of a row.
    ///
    /// Whole rows would be too coarse for small fetches.
    private static let parts: UInt64 = 1024

    private struct Entry: Sendable, Hashable {
        let hash: UInt64
        /// The sizes the fetch stands for: its own and, once a trace is complete, its share of the fetches that were
        /// not kept.
        let weight: UInt64
        var execution: Execution
        let priority: Double

        init(hash: UInt64, weight: UInt64, execution: Execution) {
            self.hash = hash
            self.weight = weight
            self.execution = execution
            // The 53 bits of the hash that fit a significand.
            priority = Double(weight) / ((Double(hash >> 11) + 1) / 0x1p53)
        }

        /// Whether this entry comes before another with the same hash.
        func precedes(_ other: Entry) -> Bool {
            weight == other.weight ? execution.precedes(other.execution) : weight < other.weight
        }
    }

    /// In descending order of priority.
    private var kept: [Entry] = []
    /// The highest priority of the fetches that were not kept, or 0 if all were.
    private var threshold: UInt64 = 0

    package init() {}

    /// The fetches with the number of fetches each stands for, in an order independent of the order of events.
    package var fetches: [(execution: Execution, times: Double)] {
        kept.map { ($0.execution, max(1, Double(max($0.weight, threshold)) / Double($0.execution.weight))) }
    }

    /// The fetches, in an order independent of the order of events.
    package var executions: [Execution] { kept.map(\.execution) }

    mutating func insert(_ execution: Execution, hash: UInt64) {
        insert(Entry(hash: hash, weight: execution.weight, execution: execution))
    }

    private mutating func insert(_ entry: Entry) {
        if let position = kept.firstIndex(where: { $0.hash == entry.hash }) {
            // Of two entries with the same hash, the same one is kept in either order.
            guard kept[position].precedes(entry) else { return }
            kept.remove(at: position)
        }
        if kept.count >= Self.capacity, let last = kept.last, entry.priority < last.priority { return leaveOut(entry) }
        let position =
            kept.firstIndex { ($0.priority, entry.hash) < (entry.priority, $0.hash) } ?? kept.endIndex
        kept.insert(entry, at: position)
        if kept.count > Self.capacity { leaveOut(kept.removeLast()) }
    }

    private mutating func leaveOut(_ entry: Entry) {
        threshold = max(threshold, UInt64(min(entry.priority, Double(StoredValue.largest))))
    }

    /// Adds the use of a fetch's rows if the fetch is in the sample.
    mutating func add(_ runs: [TraceEvent.Use.Run], to hash: UInt64) {
        guard let position = kept.firstIndex(where: { $0.hash == hash }) else { return }
        kept[position].execution.runs = Array(runs.prefix(Self.maximumRuns))
    }

    /// Removes the requests' values.
    mutating func removeValues() {
        let entries = kept.map { entry in
            var execution = entry.execution
            execution.values = nil
            return Entry(hash: entry.hash, weight: entry.weight, execution: execution)
        }
        kept = entries
    }

    /// Rehashes the fetches of a trace, because other traces have events with the same IDs.
    mutating func mix(_ salt: UInt64) {
        // New hashes give new priorities, so the weights are fixed first.
        let entries = kept.map { entry in
            Entry(
                hash: StableHash.mix(entry.hash ^ salt), weight: max(entry.weight, threshold),
                execution: entry.execution)
        }
        self = FetchSample()
        for entry in entries { insert(entry) }
    }
}

extension FetchSample: Mergeable, StartsEmpty {
    package mutating func merge(_ other: FetchSample) {
        threshold = max(threshold, other.threshold)
        for entry in other.kept { insert(entry) }
    }

    /// The threshold, and for each fetch its hash in hexadecimal, its values or null, its weight, rows, limit, offset
    /// and batch size, and its runs.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        guard !kept.isEmpty else { return .none }
        let entries = kept.map { entry -> StoredValue in
            let values = entry.execution.values.map { StoredValue.text($0) } ?? .none
            return .list(
                [.text(String(entry.hash, radix: 16)), values, StoredValue(entry.weight)]
                    + entry.execution.numbers.map { StoredValue($0) })
        }
        var members = ["kept": StoredValue.list(entries)]
        if threshold > 0 { members["threshold"] = StoredValue(threshold) }
        return .record(members)
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        // Files of the first version do not have the weights.
        if case .list = value { return }
        let entries = try value.member("kept") { try $0.map { try Self.entry($0) } }
        let threshold = try value.member("threshold") { try $0.optionalCount() ?? 0 }
        for entry in entries { insert(entry) }
        self.threshold = max(self.threshold, threshold)
    }

    private static func entry(_ value: StoredValue) throws -> Entry {
        let parts = try value.list()
        guard parts.count >= 7, !parts.count.isMultiple(of: 2), let hash = UInt64(try parts[0].text(), radix: 16)
        else {
            throw StoredProblem(
                expected: "a hash in hexadecimal digits, a text or null, five numbers and pairs of numbers")
        }
        let numbers = try parts.dropFirst(3).map { try $0.count() }
        let runs = stride(from: 4, to: numbers.count, by: 2).prefix(maximumRuns)
            .map { TraceEvent.Use.Run(first: numbers[$0], rows: numbers[$0 + 1]) }
        let execution = Execution(
            rows: numbers[0], limit: numbers[1], offset: numbers[2], batchSize: numbers[3],
            values: try parts[1].optionalText(), runs: runs)
        return Entry(hash: hash, weight: try parts[2].count(), execution: execution)
    }
}
