public import FaultlineTrace

/// A finding's change in a form that can be tried.
package enum Remedy: Sendable, Hashable {
    /// A fetch does something in another way.
    case change(FetchProfile.Key, FetchChange)
    /// The store is asked for what was made of a fetch's rows.
    case answer(FetchProfile.Key, Answer)
    /// The terms of a predicate are asked in another order: the new first one's place in the old order, and so on.
    case reorder(FetchProfile.Key, [Int])
    /// Fetches that follow one another, each for another value, become one for all of the values.
    case joinFetches(LoopEvidence.Key)
    /// A table gets an index, from which fetches have something.
    case index(IndexProposal, [FetchProfile.Key])
    /// SQLite looks at the tables anew before it chooses the fetches' plans.
    case analyze([FetchProfile.Key])
    /// Values leave the rows of an entity that fetches load.
    case moveOut(entity: String, properties: [String], [FetchProfile.Key])
    /// Saves that follow one another become one.
    case joinSaves(entities: [String], saves: UInt64, objects: UInt64)

    /// What rows were there for.
    package enum Answer: Sendable, Hashable {
        case count, existence, identities
        /// A sum, a mean, a least or a greatest value of one property.
        case fold(property: String)
        /// The count, and the first rows.
        case preview(rows: UInt64)
    }

    /// The fetches whose time it changes.
    package var fetches: [FetchProfile.Key] {
        switch self {
        case .change(let fetch, _), .answer(let fetch, _), .reorder(let fetch, _): [fetch]
        case .joinFetches(let loop): [loop.fetch]
        case .index(_, let fetches), .analyze(let fetches), .moveOut(_, _, let fetches): fetches
        case .joinSaves: []
        }
    }
}

extension FetchProfile {
    /// Whether fetches of this line do what a change asks of them, as far as a trace tells.
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
    /// The change as `faultline record --try` takes it; `nil`: it is another kind of change, or its line is not known.
    public var advice: FetchAdvice? {
        guard case .change(let fetch, let change) = remedy, let site = fetch.site else { return nil }
        return FetchAdvice(file: String(site.fileName), line: site.line, change: change)
    }
}
