// Made by "make schema" from faultline_events.h. Do not edit.

/// What happened: one case for each kind of event that a trace can hold.
///
/// The raw value is the number that the schema gives the kind.
public enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A fetch request that was executed.
    case fetch = 1
    /// A batch of a batched fetch, loaded when one of its rows was first asked for.
    case batch
    /// A fault that fired: an object whose attributes, or a relationship whose members, were asked for before they were
    /// in memory.
    case fault
    /// The trip to the store of a fault that the row cache could not serve.
    case cacheMiss
    /// A context that was saved.
    case save
    /// A statement that ran in SQLite: one round trip.
    case sql
    /// What a program did with the result of one fetch, until it released the result.
    case use
    /// A scope that was opened or closed.
    ///
    /// Both events carry the scope's own number as their ID, and the surrounding scope as their scope.
    case scope
    /// What another context saved, merged into a context.
    case merge
    /// Objects that were turned back into faults, to be read anew.
    case refresh
    /// A wait for a queue or a lock.
    ///
    /// Its duration is how long the wait took.
    case wait
    /// An object that released 16 KiB of values or more, because it was turned back into a fault or nothing held it any
    /// more; or a fetch's result that held such objects, when the program released it.
    case release
    /// A sample of a thread on a CPU: its call stack, and the CPU time that the sample stands for.
    ///
    /// It has no duration.
    case cpu
    /// Rows that the row cache evicted to stay within its limit.
    ///
    /// A row stays in memory while an object or a result holds it.
    case eviction

    /// Whether the kind's events take up no time of their threads.
    public var isInstant: Bool {
        switch self {
        case .fetch: false
        case .batch: false
        case .fault: false
        case .cacheMiss: false
        case .save: false
        case .sql: false
        case .use: true
        case .scope: false
        case .merge: false
        case .refresh: false
        case .wait: false
        case .release: true
        case .cpu: true
        case .eviction: true
        }
    }
}
