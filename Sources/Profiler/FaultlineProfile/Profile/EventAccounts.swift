internal import FaultlineTrace

/// Sums up the events of a process by operation and call site: counts, durations and self time.
struct EventAccounts: Sendable {
    /// The capacity for parents whose children arrived before them.
    private static let parents = 4096

    private var groups = EventGroups()
    private var childTime = BoundedTable<EventID, UInt64>(capacity: parents)
    private var threads: [UInt32: RecentEvents] = [:]

    /// Forgets the groups of earlier events, because a new dictionary entry may name them better.
    mutating func forgetGroups() { groups = EventGroups() }

    /// Adds an event of a kind that is work.
    mutating func add(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        if case .cacheHits(let hits) = event.detail { return add(hits, event, in: &context, &tables) }
        let group = groups.group(of: event, in: &context, &tables)
        tables.changeGroup(group) {
            if event.unrecorded.contains(.duration) { $0.untimed &+= 1 } else { $0.addTime(of: event) }
            $0.uncounted &+= event.unrecorded.contains(.rows) ? 1 : 0
            $0.counts.add(event)
            if event.isMainThread, event.isOnThread { $0.mainThreadTime &+= event.duration }
        }
        if case .save(let save) = event.detail, context.isSetup(event.scope) {
            // Set-up code may set values that the rows already have.
            tables.changeGroup(group) { $0.counts.unchanged &-= UInt64(save.unchanged) }
        }
        if event.isOnThread { addTime(of: event, group: group, in: &context, &tables) }
    }

    /// Adds faults that the row cache filled, which took part of the time of the event around them.
    private mutating func add(
        _ hits: TraceEvent.CacheHits, _ event: TraceEvent, in context: inout ProcessContext,
        _ tables: inout ProfileTables
    ) {
        let group = groups.group(of: event, in: &context, &tables)
        tables.changeGroup(group) { $0.add(hits, event) }
        let sum = RecentEvents.Ended(
            id: event.id, parent: event.parent, scope: event.scope, group: group, isMainThread: event.isMainThread)
        credit(Int64(clamping: hits.time), to: sum, in: &context, &tables)
        give(hits.time, to: event.parent, thread: event.thread, in: &context, &tables)
        if event.parent == 0 { context.threads[event.thread]?.mark.storeTime &+= hits.time }
    }

    /// Adds the event's self time, and subtracts the event's time from its parent's self time.
    private mutating func addTime(
        of event: TraceEvent, group: Int, in context: inout ProcessContext, _ tables: inout ProfileTables
    ) {
        let children = childTime.remove(event.id) ?? 0
        let isPart = event.kind == .cacheMiss
        let ended = RecentEvents.Ended(
            id: event.id, parent: event.parent, scope: event.scope, group: isPart ? nil : group,
            isMainThread: event.isMainThread)
        if !isPart {
            credit(Int64(clamping: event.duration) - Int64(clamping: children), to: ended, in: &context, &tables)
        }
        give(isPart ? children : event.duration, to: event.parent, thread: event.thread, in: &context, &tables)
        threads[event.thread, default: RecentEvents()].remember(ended)
        guard event.parent == 0 else { return }
        context.threads[event.thread]?.mark.storeTime &+= event.duration
        context.threads[event.thread]?.mark.operations &+= event.kind.isWork ? 1 : 0
        if !isPart, threads[event.thread]?.overlaps(event) == true { context.summary.counts.overlaps &+= 1 }
    }

    private mutating func give(
        _ time: UInt64, to parent: EventID, thread: UInt32, in context: inout ProcessContext,
        _ tables: inout ProfileTables
    ) {
        guard parent != 0, time > 0 else { return }
        if let ended = threads[thread]?.event(parent) {
            if ended.group == nil {
                // A parent began before its child. A damaged trace can contain cycles, which would never end.
                guard ended.parent < ended.id else { return }
                give(time, to: ended.parent, thread: thread, in: &context, &tables)
            } else {
                credit(-Int64(clamping: time), to: ended, in: &context, &tables)
            }
        } else if childTime.update(parent, { $0 &+= time }) == nil {
            _ = childTime.insert(time, for: parent)
        }
    }

    private func credit(
        _ time: Int64, to ended: RecentEvents.Ended, in context: inout ProcessContext, _ tables: inout ProfileTables
    ) {
        guard let group = ended.group else { return }
        tables.changeGroup(group) { $0.netTime &+= time }
        context.summary.counts.netTime &+= time
        if ended.isMainThread { context.summary.counts.netMainThreadTime &+= time }
        context.changeScope(ended.scope, in: &tables) { $0.own.netTime &+= time }
    }
}

/// The last events that ended on one thread, so the time of a child that is written after its parent can be subtracted.
private struct RecentEvents: Sendable {
    struct Ended: Sendable {
        var id: EventID
        var parent: EventID
        var scope: EventID
        /// The index of the group, or `nil` if the event's time is part of its parent's.
        var group: Int?
        var isMainThread: Bool
    }

    /// The time span of an outermost event.
    private typealias Span = (start: UInt64, end: UInt64)

    private static let capacity = 8

    private var events: [Ended] = []
    private var oldest = 0
    private var outermost: Span = (0, 0)

    func event(_ id: EventID) -> Ended? { events.first { $0.id == id } }

    mutating func remember(_ ended: Ended) {
        if events.count < Self.capacity {
            events.append(ended)
        } else {
            events[oldest] = ended
            oldest = (oldest + 1) % Self.capacity
        }
    }

    /// Records the span of an outermost event.
    ///
    /// - Returns: Whether it partly overlaps the previous one, which is impossible on one thread.
    mutating func overlaps(_ event: TraceEvent) -> Bool {
        let (before, now): (Span, Span) = (outermost, (event.start, event.end))
        outermost = now
        return Self.reaches(before, into: now) || Self.reaches(now, into: before)
    }

    private static func reaches(_ first: Span, into second: Span) -> Bool {
        first.start < second.start && second.start < first.end && first.end < second.end
    }
}
