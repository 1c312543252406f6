internal import CTraceSchema

extension TraceEvent {
    /// A fault that fired: an object whose attributes, or a relationship whose members, were asked for before they
    /// were there.
    public struct Fault: Sendable, Hashable {
        /// What was a fault.
        public enum FaultType: UInt32, Sendable, Hashable, CaseIterable {
            /// An object that came from a fetch, a to-many relationship or an object ID.
            case object
            /// An object that was reached through a to-one relationship.
            case toOne
            /// The members of a to-many relationship.
            case toMany
        }

        /// Where the data came from.
        public enum Source: UInt32, Sendable, Hashable, CaseIterable {
            /// The row cache had it: no trip to the store.
            case rowCache
            /// SQLite was asked.
            case store
            /// SQLite was asked and had no such row.
            case gone
        }

        public var type: FaultType = .object
        public var source: Source = .rowCache
        /// The entity of the object (of a to-many fault: of the object that has the relationship).
        public var entity: DictionaryID = 0
        /// The name of the relationship that fired or through which the object was reached; 0: none.
        public var relationship: DictionaryID = 0
        /// The entity that has that relationship; 0: none.
        public var relationshipEntity: DictionaryID = 0
        /// A keyed hash of the object's ID.
        public var object: UInt64 = 0
        /// The fetch that produced the object, or the object from which it was reached; 0: none is known.
        public var origin: EventID = 0
        /// Objects that this fault filled (of a to-many fault: members).
        public var filled: UInt32 = 0
        /// Bytes of column values that were read.
        public var bytes: UInt64 = 0
        /// Whether the row cache had held this object before.
        public var seenBefore = false
        /// SQLite's result code if reading failed; 0: it did not.
        public var error: UInt32 = 0
        /// Whether a ``Release`` tells when the object lets go of its values: those of 16 KiB and more are watched.
        public var isWatched = false
        /// Whether a deletion asked for it, to follow the delete rules of its relationships.
        public var isDeleting = false

        public init() {}
    }

    /// The trip to the store of a fault that the row cache could not serve.
    public struct CacheMiss: Sendable, Hashable {
        /// The fault that missed.
        public var fault: EventID = 0
        public var entity: DictionaryID = 0
        /// Whether the row cache had held this object before.
        public var seenBefore = false

        public init() {}
    }

    /// An object that let go of its values, since it was made a fault again or nobody held it any more.
    ///
    /// Told of those that a fault had filled with 16 KiB or more; and of a fetch's result that held such objects, when the
    /// program let go of it.
    public struct Release: Sendable, Hashable {
        /// The fetch whose result was let go of; 0: it was an object.
        public var fetch: EventID = 0
        /// The fault that filled the object; 0: it was a result.
        public var fault: EventID = 0
        /// A keyed hash of the object's identity, as that of the fault.
        public var object: UInt64 = 0
        /// Bytes of the values that it held.
        public var bytes: UInt64 = 0
        public var entity: DictionaryID = 0

        public init() {}

        /// Bytes from which on the values of an object are large.
        package static var leastBytes: UInt64 { UInt64(FL_LARGE_VALUE) }
    }
}
