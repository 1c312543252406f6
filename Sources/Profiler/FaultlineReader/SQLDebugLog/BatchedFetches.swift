import FaultlineTrace

/// Matches SELECTs of a log that load batches to their fetch.
///
/// Core Data first fetches the IDs of all objects and then their rows, one list of IDs at a time (`LIMIT` is the batch
/// size). The log does not say which list belongs to which fetch. The match is the last fetch with enough rows left,
/// on any thread.
struct BatchedFetches {
    /// A fetch of IDs, identified by its place among the log's operations.
    struct Identities {
        var position: Int
        var event: EventID = 0
        var shape: DictionaryID = 0
        var rows: UInt64
        /// The text, while batches are learned.
        var sql: String?
        /// Rows of the batches so far, and the limit of each; 0 before the first batch.
        var loaded: UInt64 = 0
        var limit: UInt64 = 0

        /// Whether a batch with that many rows can belong to the fetch.
        func canHave(_ rows: UInt64, limit: UInt64) -> Bool {
            rows <= limit && loaded &+ rows <= self.rows && (self.limit == 0 || self.limit == limit)
        }
    }

    /// The facts about a fetch's batches that are known once the whole log has been read.
    struct Batches {
        var size: UInt64 = 0
        var prefetches: [String] = []

        mutating func add(_ select: SQLDebugThread.Select, limit: UInt64) {
            size = max(size, limit)
            prefetches += select.prefetches.map(\.key).filter { !prefetches.contains($0) }
        }
    }

    private struct Table: Hashable {
        var process: UInt32
        var name: String
    }

    /// The number of fetches remembered for each table.
    private static let remembered = 8

    private var known: [Int: Batches] = [:]
    /// The same by the texts of the fetches: a fetch that loaded no batch has the batch size of others with its text.
    private var knownTexts: [String: Batches] = [:]
    /// The last fetches of each table, oldest first.
    private var last: [Table: [Identities]] = [:]

    /// Begins a pass over the log, keeping what was learned.
    mutating func begin() { last = [:] }

    /// Learns batch sizes and prefetches from a SELECT.
    ///
    /// - Returns: The place of the fetch that the SELECT loads a batch for; `nil` if it is not a batch.
    mutating func learn(
        _ select: SQLDebugThread.Select, _ text: SelectText, at position: Int, of process: UInt32
    ) -> Int? {
        if let fetch = take(select, text, of: process) {
            known[fetch.position, default: Batches()].add(select, limit: text.limit)
            if let sql = fetch.sql { knownTexts[sql, default: Batches()].add(select, limit: text.limit) }
            return fetch.position
        }
        if text.isOfIdentities, !select.isCount {
            remember(
                Identities(position: position, rows: select.rows, sql: select.statement.sql), text.table, of: process)
        }
        return nil
    }

    /// Returns the fetch that a SELECT loads a batch for, in its state before the batch; `nil` if it is not a batch.
    mutating func take(_ select: SQLDebugThread.Select, _ text: SelectText, of process: UInt32) -> Identities? {
        let table = Table(process: process, name: text.table)
        guard text.keyList == .objects, !select.isCount,
            let index = last[table]?.lastIndex(where: { $0.canHave(select.rows, limit: text.limit) }),
            let fetch = last[table]?[index]
        else { return nil }
        last[table]?[index].loaded &+= select.rows
        last[table]?[index].limit = text.limit
        return fetch
    }

    mutating func remember(_ fetch: Identities, _ table: String, of process: UInt32) {
        let table = Table(process: process, name: table)
        last[table, default: []].append(fetch)
        if last[table]?.count ?? 0 > Self.remembered { last[table]?.removeFirst() }
    }

    /// The batches of a fetch, or else of another with the same text; `nil` if there are none.
    func batches(at position: Int, _ sql: String? = nil) -> Batches? {
        known[position] ?? sql.flatMap { knownTexts[$0] }
    }
}
