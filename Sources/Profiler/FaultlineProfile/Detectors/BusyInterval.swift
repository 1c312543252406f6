package import FaultlineTrace

/// An interval in which a thread worked in the store without a pause.
package struct BusyInterval: Sendable {
    /// The events of one kind from one line.
    package struct Part: Sendable {
        package var kind: EventKind
        /// `nil` if unknown.
        package var site: CallSite?
        /// In nanoseconds, without waits for a CPU.
        package var time: UInt64
        /// The longest event, if the events are saves.
        package var save: TraceEvent?

        init(_ event: TraceEvent, site: CallSite?) {
            kind = event.kind
            self.site = site
            time = event.ownDuration
            save = kind == .save ? event : nil
        }

        func holds(_ event: TraceEvent, site: CallSite?) -> Bool {
            // Lines differ more often than files, and are cheaper to compare.
            kind == event.kind && self.site?.line == site?.line && self.site == site
        }

        mutating func add(_ event: TraceEvent) {
            time &+= event.ownDuration
            if let longest = save, event.duration > longest.duration { save = event }
        }
    }

    /// An event's kind, and the dictionary IDs of its call site and stack.
    ///
    /// Events with equal marks come from the same line, and marks are cheaper to compare than lines.
    private struct Mark: Equatable {
        let kind: EventKind
        let site: DictionaryID
        let stack: DictionaryID

        init(_ event: TraceEvent) { (kind, site, stack) = (event.kind, event.site, event.stack) }
    }

    /// The gap between events, in nanoseconds, that ends an interval.
    package static let pause: UInt64 = 1_000_000
    /// The maximum number of parts.
    ///
    /// Time beyond it counts for no part.
    private static let maximumParts = 64

    package let start: UInt64
    package private(set) var end: UInt64
    /// The time in the store, in nanoseconds, without waits for a CPU.
    package private(set) var time: UInt64
    package private(set) var events: UInt64 = 1
    private var parts: [Part]
    /// The last event of each part.
    private var marks: [Mark]

    /// - Parameter event: An event that is not part of another.
    package init(_ event: TraceEvent, site: CallSite?) {
        start = event.start
        end = event.end
        time = event.ownDuration
        parts = [Part(event, site: site)]
        marks = [Mark(event)]
    }

    /// The part that took the most time, or the first of equals.
    package var most: Part { parts.dropFirst().reduce(parts[0]) { $1.time > $0.time ? $1 : $0 } }

    /// Whether an event follows without a pause.
    package func isContinued(by event: TraceEvent) -> Bool {
        event.start >= start && event.start < end &+ Self.pause
    }

    /// - Parameter site: Returns the event's line. Called only if the mark is not one of the last ones seen.
    package mutating func add(_ event: TraceEvent, site: () -> CallSite?) {
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
