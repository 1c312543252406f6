// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A wait for a queue or a lock, which lasted for the event's duration.
    public struct Wait: Sendable, Hashable {
        /// The resource that a thread or a task waited for.
        public enum Resource: UInt32, Sendable, Hashable, CaseIterable {
            /// The queue of the event's context.
            case contextQueue
            /// The coordinator, which lets one context write at a time.
            case coordinator
            /// One of the store's connections, all of which were reading.
            case connection
            /// SQLite's lock on the file, which another connection held.
            case sqlite
        }

        /// The resource that a thread or a task waited for.
        public var resource: Resource = .contextQueue
        /// Whether a thread was blocked.
        ///
        /// Otherwise a task waited, and the thread that it resumed on did other work meanwhile.
        public var isBlocking: Bool = false
        /// The context that held the lock when the wait began.
        ///
        /// 0 if it is not known.
        public var owner: DictionaryID = 0
        /// The call site of that context's work.
        ///
        /// 0 if it is not known.
        public var ownerSite: DictionaryID = 0
        /// The kernel's ID of the thread that held the lock.
        ///
        /// 0 if it is not known.
        public var ownerThread: UInt32 = 0
        /// The kernel's ID of the process that held the lock.
        ///
        /// 0 if it was this one, or is not known.
        public var ownerProcess: UInt32 = 0
        /// Number of attempts to take SQLite's lock again.
        public var tries: UInt32 = 0
        /// SQLite's result code if the lock was not taken.
        ///
        /// 0 if it was.
        public var error: UInt32 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Wait: EventRecord {
    package static var kind: EventKind { .wait }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.wait
        resource = TraceEvent.Wait.Resource(rawValue: fields.resource) ?? .contextQueue
        isBlocking = fields.isBlocking != 0
        owner = fields.owner
        ownerSite = fields.ownerSite
        ownerThread = fields.ownerThread
        ownerProcess = fields.ownerProcess
        tries = fields.tries
        error = fields.error
    }

    /// The record of these fields.
    package var record: fl_wait {
        var fields = fl_wait()
        fields.resource = resource.rawValue
        fields.isBlocking = isBlocking ? 1 : 0
        fields.owner = owner
        fields.ownerSite = ownerSite
        fields.ownerThread = ownerThread
        fields.ownerProcess = ownerProcess
        fields.tries = tries
        fields.error = error
        return fields
    }
}
