package import FaultlineTrace

/// The recent work of a thread in the store, and the waits for it whose cause is not yet known.
package struct ThreadWork: Sendable {
    /// A wait that began while the thread owned the lock or the queue.
    package struct Wait: Sendable {
        package var wait: TraceEvent.Wait
        package var site: CallSite?
        package var scope: EventID
        package var start: UInt64
        package var end: UInt64
        package var isMainThread: Bool
        /// Whether it was given up at once because the transaction had read before it wrote.
        package var isUpgrade = false
        /// Whether its transaction asked for the lock when it began.
        package var hasAsked = false
        /// The library that ran the statement, if it failed.
        package var library: StatementLibrary?

        package init(
            wait: TraceEvent.Wait, site: CallSite?, scope: EventID, start: UInt64, end: UInt64, isMainThread: Bool,
            isUpgrade: Bool, hasAsked: Bool, library: StatementLibrary?
        ) {
            (self.wait, self.site, self.scope, self.start, self.end) = (wait, site, scope, start, end)
            (self.isMainThread, self.isUpgrade) = (isMainThread, isUpgrade)
            (self.hasAsked, self.library) = (hasAsked, library)
        }
    }

    /// The number of intervals and waits to keep: at least a quarter of a second of intervals.
    static let capacity = 256

    private var intervals: [BusyInterval] = []
    private var waits: [Wait] = []

    package init() {}

    /// Adds an event that is not part of another.
    package mutating func add(_ event: TraceEvent, site: () -> CallSite?) {
        if let last = intervals.last, last.isContinued(by: event) {
            intervals[intervals.count - 1].add(event, site: site)
            return
        }
        if intervals.count == Self.capacity { intervals.removeFirst(Self.capacity / 2) }
        intervals.append(BusyInterval(event, site: site()))
    }

    /// Adds a wait, and returns the oldest wait if the table is full.
    package mutating func add(_ wait: Wait) -> Wait? {
        waits.append(wait)
        return waits.count > Self.capacity ? waits.removeFirst() : nil
    }

    /// Removes and returns the waits that ended by `time`.
    ///
    /// The default removes all.
    package mutating func takeWaits(until time: UInt64 = .max) -> [Wait] {
        guard !waits.isEmpty else { return [] }
        let over = waits.filter { $0.end <= time }
        waits.removeAll { $0.end <= time }
        return over
    }

    /// The time the thread spent in the store during a wait, in nanoseconds, and the interval with the largest share of
    /// it.
    package func work(during wait: Wait) -> (time: UInt64, most: BusyInterval?) {
        var total = 0.0
        var most: (time: Double, interval: BusyInterval)?
        for interval in intervals where interval.start < wait.end && interval.end > wait.start {
            let common = Double(min(interval.end, wait.end)) - Double(max(interval.start, wait.start))
            guard common > 0 else { continue }
            let time = common * min(1, Double(interval.time) / Double(max(1, interval.end - interval.start)))
            total += time
            if time > most?.time ?? 0 { most = (time, interval) }
        }
        return (UInt64(total), most?.interval)
    }
}

/// A wait for a lock, and the save that held the lock for most of it.
package struct BlockedSave: Sendable {
    package var save: TraceEvent
    /// The line that saved, or `nil` if unknown.
    package var site: CallSite?
    package var wait: ThreadWork.Wait
    /// Whether events were lost during the wait.
    package var isLossy: Bool

    package init(save: TraceEvent, site: CallSite?, wait: ThreadWork.Wait, isLossy: Bool) {
        (self.save, self.site, self.wait, self.isLossy) = (save, site, wait, isLossy)
    }
}

extension TraceEvent {
    /// The event's duration without its waits for a CPU, and for SQLite's lock, which R13 evaluates, in nanoseconds.
    package var timeWithoutLockWait: UInt64 {
        guard case .sql(let statement) = detail else { return ownDuration }
        return ownDuration - min(ownDuration, statement.wait)
    }
}
