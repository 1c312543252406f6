// Made by "make schema" from faultline_events.h. Do not edit.

/// A kind of event that a trace can hold.
///
/// The raw value is the number that the schema gives the kind.
public enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A fetch request that was executed.
    case fetch = 1
    /// A batch of a batched fetch, loaded when one of its rows was first accessed.
    case batch
    /// A fault that fired: the attributes of an object or the members of a relationship were accessed before they were
    /// in memory.
    case fault
    /// The trip to the store for a fault that the row cache could not serve.
    case cacheMiss
    /// A save of a context.
    case save
    /// A statement that ran in SQLite: a round trip if it reads rows.
    case sql
    /// The program's use of one fetch's result until it released the result.
    case use
    /// The beginning or the end of a scope.
    ///
    /// Both events carry the scope's own number as their ID, and the enclosing scope as their scope.
    case scope
    /// A merge of another context's save into a context.
    case merge
    /// Objects that were turned back into faults, so that they are read again when they are next accessed.
    case refresh
    /// A wait for a queue or a lock, which lasted for the event's duration.
    case wait
    /// An object that released at least 16 KiB of values because it was turned back into a fault or deallocated; or a
    /// fetch's result with such objects that the program released.
    case release
    /// A sample of a thread on a CPU: its call stack, and the CPU time that the sample represents.
    ///
    /// It has no duration. Its parent is the operation of the store that the thread was in.
    case cpu
    /// Rows that the row cache evicted to stay within its limit.
    ///
    /// A row stays in memory while an object or a result holds it.
    case eviction
    /// Faults that the row cache filled, summed over one thread, scope, fetch, relationship and call stack.
    ///
    /// The event lasts from the first of them to the last.
    case cacheHits
    /// A sampled block of memory that was allocated or freed.
    ///
    /// The sample represents allocations of its size at the same place. Its parent is the operation of the store that
    /// the thread was in.
    case allocation
    /// The memory of the process at a time, as the system counts it.
    case memory
    /// A migration of a store to another version of its model, or a part of one.
    case migration

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
        case .cacheHits: true
        case .allocation: true
        case .memory: true
        case .migration: false
        }
    }
}
