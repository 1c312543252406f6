package import FaultlineProfile
package import FaultlineTrace

/// A finding's change in a form that can be tried.
package enum Remedy: Sendable, Hashable {
    /// Changes a fetch request.
    case change(FetchProfile.Key, FetchChange)
    /// Replaces a fetch with a request for the answer that the program derives from its rows.
    case answer(FetchProfile.Key, Answer)
    /// Reorders the terms of a predicate.
    ///
    /// Each number is the original position of the term that comes next.
    case reorder(FetchProfile.Key, [Int])
    /// Joins consecutive fetches, each for another value, into one for all values.
    ///
    /// The value is that of a term of the predicate, or `nil` if it is the only one.
    case joinFetches(FetchProfile.Key, term: Int?)
    /// Creates an index that serves the fetches.
    case index(IndexProposal, [FetchProfile.Key])
    /// Runs `ANALYZE`, which may change the fetches' plans.
    case analyze([FetchProfile.Key])
    /// Moves values out of the rows of an entity that fetches load.
    case moveOut(entity: String, properties: [String], [FetchProfile.Key])
    /// Joins consecutive saves into one.
    case joinSaves(entities: [String], saves: UInt64, objects: UInt64)
    /// Lets migrations of a store with a file of that size be inferred, which a mapping model does object by object.
    case inferMigrations(count: UInt64, storeBytes: UInt64)
    /// Changes a statement of a program without an object store.
    case statement(StatementChange)

    /// The answer that the program derives from rows.
    package enum Answer: Sendable, Hashable {
        case count, existence, identities
        /// A sum, a mean, a minimum or a maximum of one property.
        case fold(property: String)
        /// The count and the first rows.
        case preview(rows: UInt64)
    }

    /// The fetches whose time the change affects.
    package var fetches: [FetchProfile.Key] {
        switch self {
        case .change(let fetch, _), .answer(let fetch, _), .reorder(let fetch, _): [fetch]
        case .joinFetches(let fetch, _): [fetch]
        case .index(_, let fetches), .analyze(let fetches), .moveOut(_, _, let fetches): fetches
        case .joinSaves, .inferMigrations, .statement: []
        }
    }
}

extension FetchProfile {
    /// Whether the fetches of this line already follow a change, as far as a trace shows.
    package func hasTaken(_ change: FetchChange) -> Bool {
        let paths = key.shape.prefetch
        return change.prefetch.allSatisfy { paths.contains($0) }
            && !change.withoutPrefetch.contains { paths.contains($0) }
            && change.batchSize.map { size in sample.executions.contains { $0.batchSize == UInt64(size) } } ?? true
            && (!change.readsIdentitiesOnly || change.batchSize != nil
                || sample.executions.contains { $0.batchSize == 0 })
            && change.limit.map { limit in sample.executions.contains { $0.limit == UInt64(limit) } } ?? true
            && change.properties.map { Set($0) == Set(key.shape.expressions ?? []) } ?? true
    }
}

extension Finding {
    /// The change as `faultline record --try` takes it, or `nil` if it is another kind of change or its line is
    /// unknown.
    package var advice: FetchAdvice? {
        guard case .change(let fetch, let change) = remedy, let site = fetch.site else { return nil }
        return FetchAdvice(file: String(site.fileName), line: site.line, change: change)
    }
}

/// A change to a statement of a program without an object store, in a form that can be tried.
package struct StatementChange: Sendable, Hashable {
    /// The statement without values.
    package var sql: String
    /// The runs in the trace, the rows that they returned or changed, and their time in nanoseconds.
    package var executions: UInt64
    package var rows: UInt64
    package var time: UInt64
    package var kind: Kind

    package init(sql: String, executions: UInt64, rows: UInt64, time: UInt64, kind: Kind) {
        (self.sql, self.executions, self.rows, self.time, self.kind) = (sql, executions, rows, time, kind)
    }

    package enum Kind: Sendable, Hashable {
        /// Creates indexes that serve the statement.
        case indexes([String])
        /// Searches a full-text index of a column.
        case fullText(table: String, column: String)
        /// Reads the rows of several runs with one statement.
        case together(runs: UInt64)
        /// Runs the statement once instead of several times with the same values.
        case once(runs: UInt64)
        /// Keeps the statement prepared.
        case prepared
        /// Continues after the last row of the previous page instead of skipping rows.
        case keyset(column: String, isDescending: Bool, skipped: UInt64)
        /// Selects fewer columns.
        case columns([String])
        /// Counts the rows instead of stepping over them.
        case count
        /// Asks whether there is a row.
        case existence
        /// Writes the rows of several transactions in one.
        case transaction(transactions: UInt64)
    }
}
