internal import FaultlineTrace

/// What a thread did in the store without a pause.
struct BusyInterval: Sendable {
    /// Events of one kind that one line asked for.
    struct Part: Sendable {
        var kind: EventKind
        /// `nil`: not known.
        var site: CallSite?
        /// Without waiting for a CPU, in nanoseconds.
        var time: UInt64
        /// The longest of them, if they are saves.
        var save: TraceEvent?

        init(_ event: TraceEvent, site: CallSite?) {
            kind = event.kind
            self.site = site
            time = event.ownDuration
            save = kind == .save ? event : nil
        }

        func holds(_ event: TraceEvent, site: CallSite?) -> Bool {
            // Lines differ more often than files, and are sooner compared.
            kind == event.kind && self.site?.line == site?.line && self.site == site
        }

        mutating func add(_ event: TraceEvent) {
            time &+= event.ownDuration
            if let longest = save, event.duration > longest.duration { save = event }
        }
    }

    /// The kind and the numbers of an event's place.
    ///
    /// Events with the same mark are of the same line, and marks are compared faster than lines.
    private struct Mark: Equatable {
        let kind: EventKind
        let site: DictionaryID
        let stack: DictionaryID

        init(_ event: TraceEvent) { (kind, site, stack) = (event.kind, event.site, event.stack) }
    }

    /// Nanoseconds without the store that end an interval.
    static let pause: UInt64 = 1_000_000
    /// Parts that are told apart; what comes behind so many belongs to none.
    private static let maximumParts = 64

    let start: UInt64
    private(set) var end: UInt64
    /// In the store without waiting for a CPU, in nanoseconds.
    private(set) var time: UInt64
    private(set) var events: UInt64 = 1
    private var parts: [Part]
    /// The last event of each part.
    private var marks: [Mark]

    /// - Parameter event: One that is part of no other.
    init(_ event: TraceEvent, site: CallSite?) {
        start = event.start
        end = event.end
        time = event.ownDuration
        parts = [Part(event, site: site)]
        marks = [Mark(event)]
    }

    /// What took most of it; of two that took as long the one that came first.
    var most: Part { parts.dropFirst().reduce(parts[0]) { $1.time > $0.time ? $1 : $0 } }

    /// Whether an event follows without a pause.
    func isContinued(by event: TraceEvent) -> Bool {
        event.start >= start && event.start < end &+ Self.pause
    }

    /// - Parameter site: The event's line, asked for only if it is not one that was seen just now.
    mutating func add(_ event: TraceEvent, site: () -> CallSite?) {
        end = max(end, event.end)
        time &+= event.ownDuration
        events &+= 1
        let mark = Mark(event)
        if let index = marks.lastIndex(of: mark) { return parts[index].add(event) }
        let site = site()
        if let index = parts.lastIndex(where: { $0.holds(event, site: site) }) {
            parts[index].add(event)
            marks[index] = mark
        } else if parts.count < Self.maximumParts {
            parts.append(Part(event, site: site))
            marks.append(mark)
        }
    }
}
