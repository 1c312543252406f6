// Made by "make schema" from faultline_events.h. Do not edit.

internal import CTraceSchema

extension TraceEvent {
    /// The fields of one kind of event.
    public enum Detail: Sendable, Hashable {
        /// A fetch request that was executed.
        case fetch(Fetch)
        /// A batch of a batched fetch, loaded when one of its rows was first accessed.
        case batch(Batch)
        /// A fault that fired: the attributes of an object or the members of a relationship were accessed before they
        /// were in memory.
        case fault(Fault)
        /// The trip to the store for a fault that the row cache could not serve.
        case cacheMiss(CacheMiss)
        /// A save of a context.
        case save(Save)
        /// A statement that ran in SQLite: a round trip if it reads rows.
        case sql(Statement)
        /// The program's use of one fetch's result until it released the result.
        case use(Use)
        /// The beginning or the end of a scope.
        ///
        /// Both events carry the scope's own number as their ID, and the enclosing scope as their scope.
        case scope(Scope)
        /// A merge of another context's save into a context.
        case merge(Merge)
        /// Objects that were turned back into faults, so that they are read again when they are next accessed.
        case refresh(Refresh)
        /// A wait for a queue or a lock, which lasted for the event's duration.
        case wait(Wait)
        /// An object that released at least 16 KiB of values because it was turned back into a fault or deallocated; or
        /// a fetch's result with such objects that the program released.
        case release(Release)
        /// A sample of a thread on a CPU: its call stack, and the CPU time that the sample represents.
        ///
        /// It has no duration. Its parent is the operation of the store that the thread was in.
        case cpu(CPUSample)
        /// Rows that the row cache evicted to stay within its limit.
        ///
        /// A row stays in memory while an object or a result holds it.
        case eviction(Eviction)
        /// Faults that the row cache filled, summed over one thread, scope, fetch, relationship and call stack.
        ///
        /// The event lasts from the first of them to the last.
        case cacheHits(CacheHits)
        /// A sampled block of memory that was allocated or freed.
        ///
        /// The sample represents allocations of its size at the same place. Its parent is the operation of the store
        /// that the thread was in.
        case allocation(Allocation)
        /// The memory of the process at a time, as the system counts it.
        case memory(Memory)
        /// A migration of a store to another version of its model, or a part of one.
        case migration(Migration)
    }

    /// The event's kind, with its fields.
    public var kind: EventKind { detail.kind }
}

extension TraceEvent.Detail {
    /// The kind whose fields these are.
    public var kind: EventKind {
        switch self {
        case .fetch: .fetch
        case .batch: .batch
        case .fault: .fault
        case .cacheMiss: .cacheMiss
        case .save: .save
        case .sql: .sql
        case .use: .use
        case .scope: .scope
        case .merge: .merge
        case .refresh: .refresh
        case .wait: .wait
        case .release: .release
        case .cpu: .cpu
        case .eviction: .eviction
        case .cacheHits: .cacheHits
        case .allocation: .allocation
        case .memory: .memory
        case .migration: .migration
        }
    }

    /// The entities that the event is about, as its fields and lists refer to them; 0 stands for none.
    package var entities: [DictionaryID] {
        switch self {
        case .fetch(let fields): [fields.entity]
        case .batch(let fields): [fields.entity]
        case .fault(let fields): [fields.entity, fields.relationshipEntity]
        case .cacheMiss(let fields): [fields.entity]
        case .save(let fields): fields.entities.map(\.entity)
        case .sql: []
        case .use(let fields): [fields.entity]
        case .scope: []
        case .merge(let fields): fields.entities.map(\.entity)
        case .refresh(let fields): [fields.entity]
        case .wait: []
        case .release(let fields): [fields.entity]
        case .cpu: []
        case .eviction(let fields): [fields.entity]
        case .cacheHits(let fields): [fields.entity, fields.relationshipEntity]
        case .allocation: []
        case .memory: []
        case .migration: []
        }
    }

    @inline(__always)
    init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {
        switch kind {
        case .fetch: self = .fetch(TraceEvent.Fetch(record))
        case .batch: self = .batch(TraceEvent.Batch(record))
        case .fault: self = .fault(TraceEvent.Fault(record))
        case .cacheMiss: self = .cacheMiss(TraceEvent.CacheMiss(record))
        case .save: self = .save(TraceEvent.Save(record))
        case .sql: self = .sql(TraceEvent.Statement(record))
        case .use: self = .use(TraceEvent.Use(record))
        case .scope: self = .scope(TraceEvent.Scope(record))
        case .merge: self = .merge(TraceEvent.Merge(record))
        case .refresh: self = .refresh(TraceEvent.Refresh(record))
        case .wait: self = .wait(TraceEvent.Wait(record))
        case .release: self = .release(TraceEvent.Release(record))
        case .cpu: self = .cpu(TraceEvent.CPUSample(record))
        case .eviction: self = .eviction(TraceEvent.Eviction(record))
        case .cacheHits: self = .cacheHits(TraceEvent.CacheHits(record))
        case .allocation: self = .allocation(TraceEvent.Allocation(record))
        case .memory: self = .memory(TraceEvent.Memory(record))
        case .migration: self = .migration(TraceEvent.Migration(record))
        }
    }

    /// Calls `body` with the event's own fields, as the schema lays them out, and the words of its lists.
    package func withRecord<Result>(_ body: (UnsafeRawPointer, [UInt64]) -> Result) -> Result {
        switch self {
        case .fetch(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .batch(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .fault(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .cacheMiss(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .save(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .sql(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .use(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .scope(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .merge(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .refresh(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .wait(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .release(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .cpu(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .eviction(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .cacheHits(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .allocation(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .memory(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        case .migration(let fields):
            withUnsafeBytes(of: fields.record) { body($0.baseAddress!, fields.words) }
        }
    }
}
