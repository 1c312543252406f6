// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A fault that fired: the attributes of an object or the members of a relationship were accessed before they were
    /// in memory.
    public struct Fault: Sendable, Hashable {
        /// The kind of fault.
        public enum FaultType: UInt32, Sendable, Hashable, CaseIterable {
            /// An object that came from a fetch, a to-many relationship or an object ID.
            case object
            /// An object that was reached through a to-one relationship.
            case toOne
            /// The members of a to-many relationship.
            case toMany
        }

        /// Where the data of a fault came from.
        public enum Source: UInt32, Sendable, Hashable, CaseIterable {
            /// The row cache: no trip to the store.
            case rowCache
            /// SQLite.
            case store
            /// SQLite had no such row.
            case gone
        }

        /// A keyed hash of the object's ID.
        public var object: UInt64 = 0
        /// The fetch that produced the object, or the object from which it was reached.
        ///
        /// 0 if none is known.
        public var origin: EventID = 0
        /// Bytes of column values that were read.
        public var bytes: UInt64 = 0
        /// Time waiting for the store, in nanoseconds.
        ///
        /// 0 if the row cache had the data, and in traces of older recorders.
        public var wait: UInt64 = 0
        /// Time preparing the statement, in nanoseconds.
        ///
        /// 0 if the row cache had the data, and in traces of older recorders.
        public var prepare: UInt64 = 0
        /// Time stepping through rows and copying them, in nanoseconds.
        ///
        /// 0 if the row cache had the data, and in traces of older recorders.
        public var step: UInt64 = 0
        /// Time since the object's row last entered the row cache, for a fault that went to the store, in nanoseconds.
        ///
        /// 0 if it never did, if that was not recorded, and in traces of older recorders.
        public var sinceCached: UInt64 = 0
        /// Bytes of rows that have entered the row cache since then.
        public var loadedSince: UInt64 = 0
        /// The kind of fault.
        public var type: FaultType = .object
        /// Where the data came from.
        public var source: Source = .rowCache
        /// The entity of the object.
        ///
        /// For a to-many fault, the entity of the object that has the relationship.
        public var entity: DictionaryID = 0
        /// The relationship that fired or through which the object was reached.
        ///
        /// 0 if there is none.
        public var relationship: DictionaryID = 0
        /// The entity that has that relationship.
        ///
        /// 0 if there is none.
        public var relationshipEntity: DictionaryID = 0
        /// Objects that this fault filled.
        ///
        /// For a to-many fault, the members of the relationship.
        public var filled: UInt32 = 0
        /// Whether the row cache had contained this object before.
        public var seenBefore: Bool = false
        /// SQLite's result code if reading failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0
        /// Whether a release event follows when the object releases its values, as for values of at least 16 KiB.
        public var isWatched: Bool = false
        /// Whether a deletion fired it to apply the delete rules of its relationships.
        public var isDeleting: Bool = false
        /// Whether the program filled the object by a call that throws if that fails, and not by reading a property.
        public var isThrowing: Bool = false

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Fault: EventRecord {
    package static var kind: EventKind { .fault }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.fault
        object = fields.object
        origin = fields.origin
        bytes = fields.bytes
        wait = fields.wait
        prepare = fields.prepare
        step = fields.step
        sinceCached = fields.sinceCached
        loadedSince = fields.loadedSince
        type = TraceEvent.Fault.FaultType(rawValue: fields.type) ?? .object
        source = TraceEvent.Fault.Source(rawValue: fields.source) ?? .rowCache
        entity = fields.entity
        relationship = fields.relationship
        relationshipEntity = fields.relationshipEntity
        filled = fields.filled
        seenBefore = fields.seenBefore != 0
        error = fields.error
        isWatched = fields.isWatched != 0
        isDeleting = fields.isDeleting != 0
        isThrowing = fields.isThrowing != 0
    }

    /// The record of these fields.
    package var record: fl_fault {
        var fields = fl_fault()
        fields.object = object
        fields.origin = origin
        fields.bytes = bytes
        fields.wait = wait
        fields.prepare = prepare
        fields.step = step
        fields.sinceCached = sinceCached
        fields.loadedSince = loadedSince
        fields.type = type.rawValue
        fields.source = source.rawValue
        fields.entity = entity
        fields.relationship = relationship
        fields.relationshipEntity = relationshipEntity
        fields.filled = filled
        fields.seenBefore = seenBefore ? 1 : 0
        fields.error = error
        fields.isWatched = isWatched ? 1 : 0
        fields.isDeleting = isDeleting ? 1 : 0
        fields.isThrowing = isThrowing ? 1 : 0
        return fields
    }
}
