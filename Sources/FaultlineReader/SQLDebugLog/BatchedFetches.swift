import FaultlineTrace

/// Which SELECTs of a log are batches of one fetch.
///
/// Core Data fetches the identities of all objects first, and then their rows, list by list (`LIMIT` is the batch size). The
/// log does not say which lists belong to which fetch: the last one that has so many rows left, on whatever thread.
struct BatchedFetches {
    /// A fetch of identities by its place among the log's operations.
    struct Identities {
        var place: Int
        var event: EventID = 0
        var shape: DictionaryID = 0
        var rows: UInt64
        /// Rows of the batches so far, and the limit that each has; 0: there was none yet.
        var loaded: UInt64 = 0
        var limit: UInt64 = 0

        /// Whether a batch of so many rows can be one of it.
        func canHave(_ rows: UInt64, limit: UInt64) -> Bool {
            rows <= limit && loaded &+ rows <= self.rows && (self.limit == 0 || self.limit == limit)
        }
    }

    /// What is known of a fetch's batches when all of the log has been read.
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

    /// Fetches that are remembered of a table.
    private static let remembered = 8

    private var known: [Int: Batches] = [:]
    /// The same by the texts of the fetches: one of which no batch was loaded is batched all the same.
    private var knownTexts: [String: Batches] = [:]
    private var texts: [Int: String] = [:]
    /// The last fetches of each table, the latest last.
    private var last: [Table: [Identities]] = [:]

    /// Begins a pass over the log; what was learned stays.
    mutating func begin() { last = [:] }

    /// Learns what a SELECT tells of batches.
    ///
    /// - Returns: The place of the fetch that it loads a batch of; `nil`: it is no batch.
    mutating func learn(
        _ select: SQLDebugThread.Select, _ text: SelectText, at place: Int, of process: UInt32
    ) -> Int? {
        if let fetch = take(select, text, of: process) {
            known[fetch.place, default: Batches()].add(select, limit: text.limit)
            if let sql = texts[fetch.place] { knownTexts[sql, default: Batches()].add(select, limit: text.limit) }
            return fetch.place
        }
        if text.isOfIdentities, !select.isCount {
            texts[place] = select.sql
            remember(Identities(place: place, rows: select.rows), text.table, of: process)
        }
        return nil
    }

    /// The fetch that a SELECT loads a batch of, as it was before; `nil`: it is no batch.
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

    /// The batches of a fetch, or else of others with its text; `nil`: none has any.
    func batches(at place: Int, _ sql: String? = nil) -> Batches? { known[place] ?? sql.flatMap { knownTexts[$0] } }
}
