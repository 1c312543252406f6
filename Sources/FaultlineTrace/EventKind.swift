import CTraceSchema

/// What happened: one case for each kind of event that a trace can hold.
///
/// The raw value is the number that the schema in C gives the kind, and ``name`` the word that stands in the trace.
public enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A fetch request was executed.
    case fetch = 1
    /// A batch of a batched fetch was loaded.
    case batch
    /// An object or a relationship that was a fault was filled.
    case fault
    /// A fault found no data in the row cache and went to the store.
    case cacheMiss
    /// A context was saved.
    case save
    /// A statement ran in SQLite.
    case sql
    /// What a program did with the result of a fetch, summed up.
    case use
    /// A scope was opened or closed.
    case scope
    /// A context took in what another one saved.
    case merge
    /// Objects were made faults again.
    case refresh
    /// Somebody waited for a queue or a lock.
    case wait
    /// An object let go of large values, or a program of a result with such objects.
    case release

    /// The kind's word in a trace, in `--kind` and in reports: `"cacheMiss"`.
    public var name: String {
        String(cString: fl_schema(UInt32(rawValue)).pointee.name)
    }

    /// The kind with that word, or `nil`.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
