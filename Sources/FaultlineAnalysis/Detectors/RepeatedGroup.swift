internal import FaultlineTrace

/// A group of operations that repeat, open in one scope.
protocol RepeatedGroup: OpenGroup {
    var repetition: Repetition { get set }
}

extension BoundedTable where Value: RepeatedGroup {
    /// Removes and returns a group if an event begins a new unit of work.
    ///
    /// Otherwise adds the time before the event to the group's waiting time, and returns `nil`.
    ///
    /// - Parameter pause: The pause that ends a unit of work outside any scope, in nanoseconds outside the store.
    mutating func removeIfOver(
        _ key: Key, before event: TraceEvent, pause: UInt64 = Repetition.pause, in context: ProcessContext
    ) -> Value? {
        guard let group = peek(key), group.repetition.end <= event.start else { return nil }
        let now = context.mark(of: event.thread)
        let waiting = group.repetition.waiting(before: event, now)
        if group.repetition.isOver(before: event, waiting: waiting, pause: pause, now) { return remove(key) }
        update(key) { $0.repetition.waiting &+= waiting } ?? ()
        return nil
    }

    /// Adds an event to a group in the table, and changes the group.
    mutating func add(
        _ event: TraceEvent, rows: UInt64, to key: Key, in context: inout ProcessContext,
        _ change: (inout Value) -> Void = { _ in }
    ) {
        let caller = context.caller(of: event)
        var mark = context.mark(of: event.thread)
        // The event's own time is added to the thread's only later.
        if event.parent == 0 { mark.storeTime &+= event.duration }
        update(key) { group in
            group.repetition.add(event, rows: rows, caller: caller, mark: mark)
            change(&group)
        } ?? ()
    }
}

/// The evidence of operations that repeat.
protocol RepetitionEvidence: StartsEmpty {
    var occurrences: UInt64 { get set }
    var lossyOccurrences: UInt64 { get set }
    var rows: UInt64 { get set }
    var time: UInt64 { get set }
    var mainThreadTime: UInt64 { get set }
    var waiting: UInt64 { get set }
    var callers: [CallSite: UInt64] { get set }
    var scopes: [ScopeSummary.Key: UInt64] { get set }
    var wallTime: UInt64 { get set }
}

extension RepetitionEvidence {
    /// Creates the evidence of one occurrence.
    init(_ repetition: Repetition, in surroundings: Surroundings) {
        self.init()
        occurrences = 1
        lossyOccurrences = surroundings.lossyOccurrences
        rows = repetition.rows
        time = repetition.time
        mainThreadTime = repetition.mainThreadTime
        waiting = repetition.waiting
        callers = repetition.callers
        scopes = surroundings.scopes
        wallTime = surroundings.wallTime
    }
}
