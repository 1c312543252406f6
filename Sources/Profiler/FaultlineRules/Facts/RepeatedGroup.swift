internal import FaultlineProfile
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
        update(key) { $0.repetition.wait(waiting, now) } ?? ()
        return nil
    }

    /// Removes and returns a group of a statement's runs if a run does not belong to its loop.
    ///
    /// Where calls of functions are not known, a pause ends the loop.
    mutating func removeIfLeft(
        _ key: Key, before event: TraceEvent, begunBy first: TraceEvent? = nil, in context: inout ProcessContext
    ) -> Value? {
        guard let activation = context.activation(of: first ?? event) else {
            // The times of a log are those of its lines, which a busy machine writes late.
            let pause = context.isOfLog ? Repetition.longPause : Repetition.statementPause
            return removeIfOver(key, before: event, pause: pause, in: context)
        }
        let now = context.mark(of: event.thread)
        let isLeft = update(key) { group in
            let isLeft = group.repetition.isLeft(for: activation)
            if !isLeft, group.repetition.end <= event.start {
                group.repetition.wait(group.repetition.waiting(before: event, now), now)
            }
            return isLeft
        }
        return isLeft == true ? remove(key) : nil
    }

    /// Adds an event to a group in the table, and changes the group.
    mutating func add(
        _ event: TraceEvent, rows: UInt64, to key: Key, in context: inout ProcessContext,
        _ change: (inout Value) -> Void = { _ in }
    ) {
        let caller = context.caller(of: event)
        var mark = context.mark(of: event.thread)
        // The event's own time is added to the thread's only later.
        if event.parent == 0 {
            mark.storeTime &+= event.duration
            mark.operations &+= event.kind.isWork ? 1 : 0
        }
        update(key) { group in
            group.repetition.add(event, rows: rows, caller: caller, mark: mark)
            change(&group)
        } ?? ()
    }
}

/// A group that is open in one scope, and merges with its counterparts in other scopes.
protocol OpenGroup: Sendable {
    associatedtype Key: ScopedKey
    mutating func merge(_ other: Self)
}

/// A key of a group that is open in a scope.
protocol ScopedKey: Hashable, Sendable {
    var scope: EventID { get set }
}

extension ProcessContext {
    /// Merges groups by the unit of work their scopes belong to, and drops those in set-up scopes.
    func units<Group: OpenGroup>(of groups: [(key: Group.Key, value: Group)]) -> [Group.Key: Group] {
        var units: [Group.Key: Group] = [:]
        for (key, group) in groups {
            let unit = unit(of: key.scope)
            guard !unit.isSetup else { continue }
            var merged = key
            merged.scope = unit.id
            if units[merged] == nil { units[merged] = group } else { units[merged]?.merge(group) }
        }
        return units
    }
}

/// Operations that repeat on one thread, and the time between them.
struct Repetition: Sendable {
    var executions: UInt64 = 0
    var rows: UInt64 = 0
    /// In nanoseconds.
    var time: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    /// The time between the operations that the thread did not spend in the store, in nanoseconds.
    private(set) var waiting: UInt64 = 0
    /// The shortest such time, or the share in it if other operations ran meanwhile; `nil` if there was none.
    private var shortestWait: UInt64?
    /// The lines that called the functions with the operations.
    var callers: [CallSite: UInt64] = [:]
    var speeds = Speeds()
    var start: UInt64 = 0
    var end: UInt64 = 0
    /// The thread's progress at the end of the last operation.
    var mark = ThreadMark()
    /// The call of a function that ran the operations; `nil` if there was only one, or it is not known.
    private var loop: Activation?

    /// The pause that ends a unit of work outside any scope: nanoseconds outside the store, and a multiple of the
    /// operations' mean time.
    static let pause: UInt64 = 5_000_000
    private static let pauseFactor: UInt64 = 4
    /// The pause that ends a unit of work outside any scope in a program without an object store, in nanoseconds.
    ///
    /// A thread of a busy machine waits for a CPU for more than 10 ms, and a script computes between its statements.
    static let statementPause: UInt64 = 20_000_000
    /// The statements that belong together, as the rules' manuals say it.
    static let occasion =
        "within one scope, and within one call of a Python function, however long it waits in between; in a program whose calls are "
        + "not recorded, without a pause of \(statementPause / 1_000_000) ms, or \(longPause / 1_000_000) ms in a log"
    /// The pause that ends a unit of work outside any scope for operations that repeat with the same values, in nanoseconds.
    static let longPause: UInt64 = 100_000_000

    /// The time from the first operation to the last, in nanoseconds.
    var wallTime: UInt64 { end > start ? end - start : 0 }

    /// The time since the last operation that the thread did not spend in the store, in nanoseconds.
    ///
    /// - Parameter now: The thread's progress.
    func waiting(before event: TraceEvent, _ now: ThreadMark) -> UInt64 {
        var other = now.storeTime &- mark.storeTime
        // A statement is prepared before its run begins.
        if case .sql(let statement) = event.detail { other &+= statement.prepare }
        let idle = event.start - end
        return idle > other ? idle - other : 0
    }

    /// Whether an operation begins a new unit of work, outside any scope.
    func isOver(
        before event: TraceEvent, waiting: UInt64, pause: UInt64 = Repetition.pause, _ now: ThreadMark
    ) -> Bool {
        let isPause = waiting >= pause && waiting >= Self.pauseFactor * (time / executions)
        return event.scope == 0 && (isPause || now.scopes != mark.scopes)
    }

    /// The minimum operations of a loop within another.
    private static let innerLoop: UInt64 = 5

    /// Whether an operation that was repeated in a call of a function belongs to another loop.
    mutating func isLeft(for activation: Activation) -> Bool {
        if activation.beginsWork { return true }
        guard let loop else {
            self.loop = activation
            return false
        }
        if activation.number == loop.number || activation.depth > loop.depth { return false }
        // A function further out went on. What the inner one ran was a loop, or a step of this one's.
        if executions >= Self.innerLoop { return true }
        self.loop = activation
        return false
    }

    /// The time that the program and its libraries need for each operation, in nanoseconds: the shortest time between two, as
    /// often as there was one.
    var overhead: UInt64 { min(waiting, (shortestWait ?? 0) &* (executions - min(1, executions))) }

    /// Adds a time between two operations.
    ///
    /// The other operations between them have equal shares in what the program and its libraries needed.
    mutating func wait(_ time: UInt64, _ now: ThreadMark) {
        waiting &+= time
        let others = now.operations > mark.operations ? now.operations - mark.operations : 0
        let own = time / (others &+ 1)
        // If the statement whose rows the loop goes through ended meanwhile, its time, that of the whole loop, was taken off.
        if own > 0 { shortestWait = min(shortestWait ?? own, own) }
    }

    mutating func add(_ event: TraceEvent, rows: UInt64, caller: CallSite?, mark: ThreadMark) {
        if executions == 0 { start = event.start }
        executions &+= 1
        self.rows &+= rows
        let worked = event.timeWithoutLockWait
        time &+= worked
        mainThreadTime &+= event.isMainThread ? worked : 0
        speeds.add(event.ownDuration)
        if let caller { callers[caller, default: 0] &+= 1 }
        end = max(end, event.end)
        self.mark = mark
    }

    mutating func merge(_ other: Repetition) {
        executions &+= other.executions
        rows &+= other.rows
        time &+= other.time
        mainThreadTime &+= other.mainThreadTime
        waiting &+= other.waiting
        shortestWait = [shortestWait, other.shortestWait].compactMap { $0 }.min()
        callers.merge(other.callers, uniquingKeysWith: &+)
        speeds.merge(other.speeds)
        start = min(start, other.start)
        end = max(end, other.end)
    }
}
