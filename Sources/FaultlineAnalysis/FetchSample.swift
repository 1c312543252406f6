internal import FaultlineTrace

/// A few of the fetches of one line, as they were: what can be done again.
///
/// It keeps those with the smallest hashes of their numbers, so that samples of parts add up in any order.
package struct FetchSample: Sendable, Hashable {
    /// One fetch, and what was done with its rows.
    package struct Execution: Sendable, Hashable {
        /// Rows that matched.
        package var rows: UInt64
        package var limit: UInt64
        package var offset: UInt64
        package var batchSize: UInt64
        /// The request's values, if the trace has them: JSON, see `PredicateValue`.
        package var values: String?
        /// First rows and numbers of rows that were taken out one after the other; of a result whose end the trace has not,
        /// none.
        package var runs: [[UInt64]] = []

        package init(
            rows: UInt64, limit: UInt64, offset: UInt64, batchSize: UInt64, values: String? = nil,
            runs: [[UInt64]] = []
        ) {
            self.rows = rows
            self.limit = limit
            self.offset = offset
            self.batchSize = batchSize
            self.values = values
            self.runs = runs
        }

        fileprivate var numbers: [UInt64] { [rows, limit, offset, batchSize] + runs.joined() }

        /// Whether it stands before another one that has the same hash.
        fileprivate func precedes(_ other: Execution) -> Bool {
            numbers == other.numbers
                ? (values ?? "") < (other.values ?? "") : numbers.lexicographicallyPrecedes(other.numbers)
        }
    }

    /// Fetches that are kept, and runs of each.
    static let capacity = 8
    static let maximumRuns = 16

    private var kept: [UInt64: Execution] = [:]

    package init() {}

    /// The fetches, in an order that does not hang on that of events.
    package var executions: [Execution] { kept.sorted { $0.key < $1.key }.map(\.value) }

    mutating func insert(_ execution: Execution, hash: UInt64) {
        if kept.count >= Self.capacity, kept[hash] == nil, let last = kept.keys.max() {
            guard hash < last else { return }
            kept[last] = nil
        }
        // Of two with one hash the same one stays in whatever order they come.
        if let other = kept[hash], !other.precedes(execution) { return }
        kept[hash] = execution
    }

    /// Adds what was done with the rows, if the fetch is one of those that are kept.
    mutating func add(_ runs: [TraceEvent.Use.Run], to hash: UInt64) {
        kept[hash]?.runs = runs.prefix(Self.maximumRuns).map { [$0.first, $0.rows] }
    }

    /// Tells the fetches of one trace from those of others, whose events have the same numbers.
    mutating func mix(_ salt: UInt64) {
        kept = Dictionary(kept.map { (StableHash.mix($0.key ^ salt), $0.value) }) { one, _ in one }
    }
}

extension FetchSample: Mergeable, StartsEmpty {
    mutating func merge(_ other: FetchSample) {
        for (hash, execution) in other.kept { insert(execution, hash: hash) }
    }

    /// Of each fetch its hash in hexadecimal digits, its values or nothing, rows, limit, offset, batch size, and its runs
    /// one after the other.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list(
            kept.sorted { $0.key < $1.key }.map { hash, execution in
                .list(
                    [.text(String(hash, radix: 16)), execution.values.map { .text($0) } ?? .none]
                        + execution.numbers.map { StoredValue($0) })
            })
    }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        let entries = try value.map { entry in
            let parts = try entry.list()
            guard parts.count >= 6, parts.count.isMultiple(of: 2), let hash = UInt64(try parts[0].text(), radix: 16)
            else {
                throw StoredProblem(
                    expected: "a hash in hexadecimal digits, a text or null, four numbers and pairs of numbers")
            }
            let numbers = try parts.dropFirst(2).map { try $0.count() }
            let runs = stride(from: 4, to: numbers.count, by: 2).prefix(Self.maximumRuns)
                .map { [numbers[$0], numbers[$0 + 1]] }
            return (
                hash,
                Execution(
                    rows: numbers[0], limit: numbers[1], offset: numbers[2], batchSize: numbers[3],
                    values: try parts[1].optionalText(), runs: runs)
            )
        }
        for (hash, execution) in entries { insert(execution, hash: hash) }
    }
}
