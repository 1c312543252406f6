internal import FaultlineDocuments
internal import FaultlineTrace

/// The events of each thread that took time, in the order of the run, as evented profiles of speedscope.
///
/// A profile opens and closes frames, strictly nested. Events that overlap others of their thread without being a part
/// of them, as those of a log may, have a profile of their own.
struct ThreadRuns {
    private struct Track: Hashable {
        var process: UInt32
        var thread: UInt32
    }

    private struct Span {
        var start: UInt64
        var end: UInt64
        /// The position of the frame that stands for the event.
        var frame: Int
    }

    private var order: [Track] = []
    private var spans: [Track: [Span]] = [:]
    private var names: [Track: String] = [:]
    private var programs: [UInt32: String] = [:]
    /// The maximum number of profiles for one thread.
    ///
    /// A damaged trace could need one for each event; its other events are left out.
    private static let limit = 64

    mutating func name(_ program: String, process: UInt32) { programs[process] = program }

    mutating func name(_ thread: ThreadEntry, process: UInt32) {
        names[Track(process: process, thread: thread.thread)] = thread.shownName
    }

    /// Whether a run shows the event.
    static func shows(_ event: TraceEvent) -> Bool {
        guard event.end > event.start else { return false }
        return switch event.detail {
        // The end of a scope has its duration.
        case .scope(let scope): scope.phase == .end
        case .memory: false
        default: event.isOnThread
        }
    }

    /// Adds an event, with the position of the frame that stands for it.
    mutating func add(_ event: TraceEvent, frame: Int) {
        let track = Track(process: event.process, thread: event.thread)
        if spans[track] == nil {
            order.append(track)
            if names[track] == nil {
                names[track] = ThreadEntry.shownName(of: event.thread, isMain: event.isMainThread)
            }
        }
        spans[track, default: []].append(Span(start: event.start, end: event.end, frame: frame))
    }

    /// The profiles, each a JSON object, in the order of the threads' first events.
    ///
    /// All have the same start and end, so that viewers show them on one scale.
    ///
    /// - Complexity: O(n log n) in the number of events.
    func profiles() -> [String] {
        let all = spans.values.joined()
        let start = all.reduce(UInt64.max) { min($0, $1.start) }
        let end = all.reduce(0) { max($0, $1.end) }
        let uses = Dictionary(order.map { (name(of: $0), 1) }, uniquingKeysWith: +)
        return order.flatMap { track in
            var name = name(of: track)
            if uses[name, default: 0] > 1 { name += " (thread \(track.thread))" }
            return Self.lanes(spans[track] ?? []).enumerated().map { number, lane in
                let lane = lane.closed()
                let title = JSONValue.string(number == 0 ? name : "\(name), overlapping events \(number)").line
                return "{\"type\":\"evented\",\"name\":\(title),\"unit\":\"nanoseconds\",\"startValue\":\(start)"
                    + ",\"endValue\":\(end),\"events\":[\(lane)]}"
            }
        }
    }

    /// The name of a thread, after that of its process if there are several.
    private func name(of track: Track) -> String {
        let program = programs.count > 1 ? "\(programs[track.process] ?? "") \(track.process): " : ""
        return program + (names[track] ?? "")
    }

    private static func lanes(_ spans: [Span]) -> [Lane] {
        var lanes: [Lane] = []
        // An outer event before those within it. Of two with the same times, the recorder writes the inner one first.
        let sorted = spans.enumerated().ordered {
            ($0.element.start, $1.element.end, $1.offset) < ($1.element.start, $0.element.end, $0.offset)
        }
        for (_, span) in sorted {
            var isTaken = false
            for index in lanes.indices where !isTaken { isTaken = lanes[index].open(span) }
            guard !isTaken, lanes.count < limit else { continue }
            var lane = Lane()
            _ = lane.open(span)
            lanes.append(lane)
        }
        return lanes
    }

    /// The events of one profile.
    private struct Lane {
        private var events = ""
        private var opened: [Span] = []

        /// Opens a frame, unless it ends after the one that it begins in.
        mutating func open(_ span: Span) -> Bool {
            close(until: span.start)
            if let outer = opened.last, outer.end < span.end { return false }
            opened.append(span)
            write("O", span.frame, at: span.start)
            return true
        }

        /// The JSON of all events, after the last frame was closed.
        func closed() -> String {
            var lane = self
            lane.close(until: .max)
            return lane.events
        }

        private mutating func close(until time: UInt64) {
            while let inner = opened.last, inner.end <= time {
                opened.removeLast()
                write("C", inner.frame, at: inner.end)
            }
        }

        private mutating func write(_ type: String, _ frame: Int, at time: UInt64) {
            events += "\(events.isEmpty ? "" : ",")\n{\"type\":\"\(type)\",\"frame\":\(frame),\"at\":\(time)}"
        }
    }
}
