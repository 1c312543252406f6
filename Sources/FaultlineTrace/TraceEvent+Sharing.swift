extension TraceEvent {
    /// What another context saved, taken in by a context.
    public struct Merge: Sendable, Hashable {
        /// What set a merge off.
        public enum Trigger: UInt32, Sendable, Hashable, CaseIterable {
            /// The program called for it.
            case call
            /// The context merges by itself whatever is saved.
            case automatic
            /// The program told of a save that no context of it made.
            case remote
        }

        public var trigger: Trigger = .call
        /// The context that saved; 0: it is not known.
        public var saver: DictionaryID = 0
        /// Objects that were saved, whether the merging context had them or not.
        public var inserted: UInt32 = 0
        public var updated: UInt32 = 0
        public var deleted: UInt32 = 0
        /// Objects of the merging context that show other values now, or are gone.
        public var refreshed: UInt32 = 0
        /// Those among them that have unsaved changes, which were kept.
        public var conflicts: UInt32 = 0
        /// What was saved, entity by entity.
        public var entities: [Save.Change] = []

        public init() {}
    }

    /// Objects that were made faults again, to be read anew.
    public struct Refresh: Sendable, Hashable {
        /// Their entity; 0: they are of several.
        public var entity: DictionaryID = 0
        public var objects: UInt32 = 0
        /// Those among them that had unsaved changes.
        public var changed: UInt32 = 0
        /// Whether unsaved changes were kept and not lost.
        public var keepsChanges = false

        public init() {}
    }

    /// A wait for a queue or a lock; the event's duration is how long it took.
    public struct Wait: Sendable, Hashable {
        /// What was waited for.
        public enum Resource: UInt32, Sendable, Hashable, CaseIterable {
            /// The queue of the event's context.
            case contextQueue
            /// The coordinator, which lets one context write at a time.
            case coordinator
            /// One of the store's connections, all of which were reading.
            case connection
            /// SQLite's lock on the file, which another connection held.
            case sqlite

            /// Whether one writer holds it at a time.
            package var isWriteLock: Bool { self == .coordinator || self == .sqlite }
        }

        public var resource: Resource = .contextQueue
        /// Whether a thread stood still meanwhile; otherwise a task waited, and the thread that it went on with had other
        /// work.
        public var isBlocking = false
        /// The context that held it when the wait began; 0: it is not known.
        public var holder: DictionaryID = 0
        /// Where that context's work was asked for; 0: it is not known.
        public var holderSite: DictionaryID = 0
        /// The kernel's number of the thread that held it; 0: it is not known.
        public var holderThread: UInt32 = 0
        /// The kernel's number of the process that held it; 0: this one, or it is not known.
        public var holderProcess: UInt32 = 0
        /// How often SQLite's lock was asked for anew.
        public var tries: UInt32 = 0
        /// SQLite's result code if it was waited for in vain; 0: it was had.
        public var error: UInt32 = 0

        public init() {}
    }

    /// Whether the event took up time of its thread; a summary and a release did not, nor did a wait that blocked no thread.
    public var isOnThread: Bool {
        switch detail {
        case .use, .release: false
        case .wait(let wait): wait.isBlocking
        default: true
        }
    }
}
