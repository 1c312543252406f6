package import FaultlineTrace

/// Builds a timeline from a trace's events, whose end need not be known in advance.
package struct TimelineBuilder: Sendable {
    /// The extent of a range whose ends are not given.
    package enum Extent: Sendable {
        /// The processes from their beginnings to their ends.
        case processes
        /// The scopes and events that were added.
        case scopes
        /// The events that were added.
        case events
    }

    /// The maximum number of lanes, so that their tracks stay small in memory.
    static let mostLanes = 64
    /// The maximum number of names of scopes in a lane.
    static let mostNames = 32
    /// The maximum number of scopes that are open at a time; the ends of others were lost.
    private static let mostOpen = 1 << 16

    private struct Place: Hashable {
        var process: UInt32
        var thread: UInt32?
        var isRest = false
    }

    private struct OpenScope {
        var start: UInt64
        var lane: Int
        var subject: EventTimeline.Track.Subject
    }

    private struct ScopeKey: Hashable {
        var process: UInt32
        var scope: EventID
    }

    private let from: UInt64?
    private let to: UInt64?
    private let dividesThreads: Bool
    private let extent: Extent
    private var lanes: [EventTimeline.Lane] = []
    private var places: [Place: Int] = [:]
    private var programs: [UInt32: String] = [:]
    /// The processes in the order in which they began.
    private var order: [UInt32] = []
    private var open: [ScopeKey: OpenScope] = [:]
    private var first: UInt64 = .max
    private var last: UInt64 = 0
    private var events: UInt64 = 0

    /// - Parameters:
    ///   - from: The beginning of the range in nanoseconds, or `nil` if it is not given.
    ///   - to: The end of the range in nanoseconds, or `nil` if it is not given.
    ///   - dividesThreads: Whether each thread has a lane of its own.
    ///   - extent: The span of a range without a beginning or an end.
    package init(
        from: UInt64? = nil, to: UInt64? = nil, dividesThreads: Bool = false, extent: Extent = .processes
    ) {
        (self.from, self.to, self.dividesThreads, self.extent) = (from, to, dividesThreads, extent)
    }

    /// Adds the beginning of a process.
    package mutating func add(_ began: ProcessBegan) {
        if programs.updateValue(began.program, forKey: began.process) == nil { order.append(began.process) }
        if extent == .processes { extend(to: began.start) }
    }

    /// Adds the end of a process.
    package mutating func add(_ ended: ProcessEnded) {
        if extent == .processes { extend(to: ended.end) }
    }

    /// Adds an event.
    ///
    /// - Parameter threadName: The name of its thread, or empty if it has none.
    /// - Complexity: O(1) for most events.
    package mutating func add(_ event: TraceEvent, threadName: @autoclosure () -> String = "") {
        guard let kind = EventTimeline.trackKind(of: event.kind) else { return }
        let (start, end) = Self.interval(of: event)
        guard end >= from ?? 0, start <= to ?? .max else { return }
        let isOfProcess = event.kind == .memory
        let index = lane(
            Place(process: event.process, thread: dividesThreads && !isOfProcess ? event.thread : nil), event,
            threadName())
        let track = lanes[index].track(.events(kind))
        events &+= 1
        extend(to: start)
        extend(to: end)
        let (begin, finish) = clamped(start, end)
        switch event.detail {
        case .memory(let memory):
            lanes[index].tracks[track].events &+= 1
            lanes[index].tracks[track].level = max(lanes[index].tracks[track].level, memory.resident)
            lanes[index].tracks[track].bins.record(level: memory.resident, at: begin)
            lanes[index].tracks[track].bins.count(1, at: begin)
        case .cacheHits(let hits):
            lanes[index].tracks[track].add(hits.hits, from: begin, to: finish, time: min(hits.time, finish - begin))
        default: lanes[index].tracks[track].add(1, from: begin, to: finish)
        }
    }

    /// Adds the beginning or the end of a scope.
    ///
    /// - Parameter name: The scope's name.
    package mutating func add(
        _ scope: TraceEvent.Scope, _ event: TraceEvent, name: String, threadName: @autoclosure () -> String = ""
    ) {
        let key = ScopeKey(process: event.process, scope: event.id)
        if scope.phase == .end, let scope = open.removeValue(forKey: key) {
            return close(scope, at: Self.interval(of: event).end)
        }
        let place = Place(process: event.process, thread: dividesThreads ? event.thread : nil)
        let began = OpenScope(
            start: event.start, lane: lane(place, event, threadName()), subject: .scopes(name, scope.kind))
        if scope.phase == .end {
            // Its beginning was lost, but its end states when it began.
            close(began, at: Self.interval(of: event).end)
        } else if open.count < Self.mostOpen {
            open[key] = began
        }
    }

    /// Whether a scope that was added is still open.
    package func isOpen(_ scope: EventID, of process: UInt32) -> Bool {
        open[ScopeKey(process: process, scope: scope)] != nil
    }

    /// Returns the timeline, or `nil` if no event was added.
    package consuming func finish() -> EventTimeline? {
        guard events > 0 || first <= last else { return nil }
        let begin = from ?? first
        let range = begin...max(begin &+ 1, to ?? max(last, begin))
        for scope in open.values.ordered(by: { ($0.start, $0.lane) < ($1.start, $1.lane) }) {
            close(scope, at: range.upperBound)
        }
        for index in lanes.indices {
            lanes[index].program = programs[lanes[index].process] ?? ""
            lanes[index].scopes = lanes[index].scopes.ordered { ($0.time, $0.events) > ($1.time, $1.events) }
            lanes[index].tracks = lanes[index].tracks.ordered(on: \.rank)
        }
        let ranks = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
        // The main thread comes first, and the rest of the threads last.
        func rank(_ lane: EventTimeline.Lane) -> (Int, Int, UInt32) {
            let isLast = lane.isRest ? 3 : lane.thread == nil ? 0 : lane.isMainThread ? 1 : 2
            return (ranks[lane.process] ?? .max, isLast, lane.thread ?? 0)
        }
        let shown = lanes.filter { !$0.tracks.isEmpty || !$0.scopes.isEmpty }.ordered { rank($0) < rank($1) }
        return EventTimeline(range: range, lanes: shown, events: events)
    }

    /// The time that an event took up.
    private static func interval(of event: TraceEvent) -> (start: UInt64, end: UInt64) {
        if case .cpu(let sample) = event.detail {
            // A sample stands for the CPU time before it.
            return (event.start - min(event.start, sample.weight), event.start)
        }
        let (end, overflows) = event.start.addingReportingOverflow(event.duration)
        return (event.start, overflows ? event.start : end)
    }

    private func clamped(_ start: UInt64, _ end: UInt64) -> (UInt64, UInt64) {
        let begin = max(start, from ?? 0)
        return (begin, max(begin, min(end, to ?? .max)))
    }

    private mutating func extend(to time: UInt64) {
        first = min(first, time)
        last = max(last, time)
    }

    private mutating func lane(_ place: Place, _ event: TraceEvent, _ name: @autoclosure () -> String) -> Int {
        if let index = places[place] { return index }
        guard lanes.count < Self.mostLanes || place.isRest else {
            return lane(Place(process: 0, isRest: true), event, "")
        }
        if !place.isRest, programs[place.process] == nil {
            programs[place.process] = ""
            order.append(place.process)
        }
        var lane = EventTimeline.Lane(process: place.process, thread: place.thread, isRest: place.isRest)
        if place.thread != nil { (lane.threadName, lane.isMainThread) = (name(), event.isMainThread) }
        lanes.append(lane)
        places[place] = lanes.count - 1
        return lanes.count - 1
    }

    private mutating func close(_ scope: OpenScope, at end: UInt64) {
        guard end >= from ?? 0, scope.start <= to ?? .max else { return }
        if extent != .events {
            extend(to: scope.start)
            extend(to: end)
        }
        let isKnown = lanes[scope.lane].scopes.contains { $0.subject == scope.subject }
        let isRoom = lanes[scope.lane].scopes.count < Self.mostNames
        let track = lanes[scope.lane].track(isKnown || isRoom ? scope.subject : .otherScopes)
        let (begin, finish) = clamped(scope.start, end)
        lanes[scope.lane].scopes[track].add(1, from: begin, to: finish)
    }
}

extension EventTimeline.Lane {
    /// The position of the track for a subject, which is added if it does not exist.
    fileprivate mutating func track(_ subject: EventTimeline.Track.Subject) -> Int {
        if case .events = subject {
            if let index = tracks.firstIndex(where: { $0.subject == subject }) { return index }
            tracks.append(EventTimeline.Track(subject))
            return tracks.count - 1
        }
        if let index = scopes.firstIndex(where: { $0.subject == subject }) { return index }
        scopes.append(EventTimeline.Track(subject))
        return scopes.count - 1
    }
}

extension EventTimeline.Track {
    /// Adds events that began at the same time.
    ///
    /// - Parameter duration: The time that they took, or `nil` for all of the interval.
    fileprivate mutating func add(_ count: UInt64, from start: UInt64, to end: UInt64, time duration: UInt64? = nil) {
        events &+= count
        time &+= duration ?? end - start
        bins.count(count, at: start)
        bins.cover(from: start, to: end, time: duration)
    }

    /// The position among the tracks of a lane.
    fileprivate var rank: Int {
        guard case .events(let kind) = subject else { return .max }
        return EventTimeline.kinds.firstIndex(of: kind) ?? .max
    }
}
