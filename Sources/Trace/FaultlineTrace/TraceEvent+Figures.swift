extension TraceEvent {
    /// The end of the event, in nanoseconds since the trace began.
    public var end: UInt64 { start &+ duration }

    /// The duration in nanoseconds without waiting for a CPU: the time the event takes wherever CPUs are free.
    public var ownDuration: UInt64 { duration > runDelay ? duration - runDelay : 0 }

    /// The event as it would have been if its thread had never waited for a CPU.
    ///
    /// Where in the event the thread waited is not known, so all parts of its duration but the waits for a lock are shorter
    /// by the same factor.
    package var withoutRunDelay: TraceEvent {
        guard runDelay > 0, duration > 0 else { return self }
        let share = Double(ownDuration) / Double(duration)
        let shorter = { (part: UInt64) in UInt64(Double(part) * share) }
        var event = self
        (event.duration, event.runDelay) = (ownDuration, 0)
        switch detail {
        case .fetch(var fetch):
            (fetch.prepare, fetch.step) = (shorter(fetch.prepare), shorter(fetch.step))
            (fetch.materialise, fetch.pending) = (shorter(fetch.materialise), shorter(fetch.pending))
            for index in fetch.prefetches.indices {
                fetch.prefetches[index].duration = shorter(fetch.prefetches[index].duration)
            }
            event.detail = .fetch(fetch)
        case .batch(var batch):
            for index in batch.prefetches.indices {
                batch.prefetches[index].duration = shorter(batch.prefetches[index].duration)
            }
            event.detail = .batch(batch)
        default: break
        }
        return event
    }

    /// Whether the event took up time of its thread.
    ///
    /// Summaries and releases do not, nor do waits that blocked no thread.
    public var isOnThread: Bool {
        if case .wait(let wait) = detail { return wait.isBlocking }
        return !kind.isInstant
    }

    /// Figures that the recording of an event leaves out.
    public struct Unrecorded: OptionSet, Sendable, Hashable {
        /// The options as bits.
        public let rawValue: UInt8

        /// Creates a set of options from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The event's duration.
        public static let duration = Unrecorded(rawValue: 1)
        /// The number of rows it returned or wrote.
        public static let rows = Unrecorded(rawValue: 2)
    }

    /// The round trips that the event counts: those of an operation of the store, or one for a statement that reads rows.
    ///
    /// The statements of an operation are events below it, whose trips the operation already counts.
    public var trips: UInt64 {
        switch detail {
        case .fetch(let fetch): UInt64(fetch.trips)
        case .batch(let batch): UInt64(batch.trips)
        case .fault(let fault): fault.source == .rowCache ? 0 : 1
        case .save(let save): UInt64(save.trips)
        case .sql(let statement): statement.type == .read ? 1 : 0
        default: 0
        }
    }
}
