// Made by "make schema" from faultline_events.h. Do not edit.

internal import CTraceSchema

extension TraceEvent {
    /// The fields of one kind of event.
    public enum Detail: Sendable, Hashable {
        case fetch(Fetch)
        case batch(Batch)
        case fault(Fault)
        case cacheMiss(CacheMiss)
        case save(Save)
        case sql(Statement)
        case use(Use)
        case scope(Scope)
        case merge(Merge)
        case refresh(Refresh)
        case wait(Wait)
        case release(Release)
        case cpu(CPUSample)
        case eviction(Eviction)
        case cacheHits(CacheHits)
        case allocation(Allocation)
        case memory(Memory)
    }

    /// What happened.
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
        }
    }
}
