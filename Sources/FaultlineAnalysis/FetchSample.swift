package import FaultlineTrace

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
        /// Rows that were taken out one after the other; of a result whose end the trace has not, none.
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

        fileprivate var numbers: [UInt64] { [rows, limit, offset, batchSize] + runs.flatMap { [$0.first, $0.rows] } }

        /// Whether it stands before another one that has the same hash.
        fileprivate func precedes(_ other: Execution) -> Bool {
            numbers == other.numbers
                ? (values ?? "") < (other.values ?? "") : numbers.lexicographicallyPrecedes(other.numbers)
        }
    }

    /// Fetches that are kept, and runs of each.
    static let capacity = 8
    static let maximumRuns = 16

    private struct Entry: Sendable, Hashable {
        var hash: UInt64
        var execution: Execution
    }

    /// By their hashes, the smallest first.
    private var kept: [Entry] = []

    package init() {}

    /// The fetches, in an order that does not hang on that of events.
    package var executions: [Execution] { kept.map(\.execution) }

    mutating func insert(_ execution: Execution, hash: UInt64) {
        if kept.count >= Self.capacity, let last = kept.last, hash > last.hash { return }
        let place = kept.firstIndex { $0.hash >= hash } ?? kept.endIndex
        if place < kept.endIndex, kept[place].hash == hash {
            // Of two with one hash the same one stays in whatever order they come.
            if kept[place].execution.precedes(execution) { kept[place].execution = execution }
            return
        }
        kept.insert(Entry(hash: hash, execution: execution), at: place)
        if kept.count > Self.capacity { kept.removeLast() }
    }

    /// Adds what was done with the rows, if the fetch is one of those that are kept.
    mutating func add(_ runs: [TraceEvent.Use.Run], to hash: UInt64) {
        guard let last = kept.last, hash <= last.hash, let place = kept.firstIndex(where: { $0.hash == hash }) else {
            return
        }
        kept[place].execution.runs = Array(runs.prefix(Self.maximumRuns))
    }

    /// Tells the fetches of one trace from those of others, whose events have the same numbers.
    mutating func mix(_ salt: UInt64) {
        let entries = kept
        kept = []
        for entry in entries { insert(entry.execution, hash: StableHash.mix(entry.hash ^ salt)) }
    }
}

extension FetchSample: Mergeable, StartsEmpty {
    mutating func merge(_ other: FetchSample) {
        for entry in other.kept { insert(entry.execution, hash: entry.hash) }
    }

    /// Of each fetch its hash in hexadecimal digits, its values or nothing, rows, limit, offset, batch size, and its runs
    /// one after the other.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list(
            kept.map { entry in
                .list(
                    [.text(String(entry.hash, radix: 16)), entry.execution.values.map { .text($0) } ?? .none]
                        + entry.execution.numbers.map { StoredValue($0) })
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
                .map { TraceEvent.Use.Run(first: numbers[$0], rows: numbers[$0 + 1]) }
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
