package import FaultlineTrace

/// When the events of a trace happened: lanes for processes or threads, with a track for each kind of event.
///
///     let columns = timeline.columns(of: timeline.lanes[0].tracks[0], 80)
///
/// A ``TimelineBuilder`` makes it. Its size does not depend on the number of events.
package struct EventTimeline: Sendable {
    /// The part of a track in one of several intervals of equal duration.
    package struct Column: Sendable, Hashable {
        /// The time that events cover, in nanoseconds.
        ///
        /// Events at the same time count once, to the resolution of the timeline.
        package var covered = 0.0
        /// The number of events that began.
        package var events: UInt64 = 0
        /// The highest level of a track that has levels, in bytes.
        package var level: UInt64 = 0

        package init() {}
    }

    /// The events of one kind, or the scopes of one name.
    package struct Track: Sendable {
        /// The subject of a track.
        package enum Subject: Sendable, Hashable {
            /// Events of a kind.
            case events(EventKind)
            /// The scopes of a name and a kind.
            case scopes(String, TraceEvent.Scope.Kind)
            /// Scopes whose names are too many for tracks of their own.
            case otherScopes
        }

        package let subject: Subject
        /// The number of events or scopes.
        package internal(set) var events: UInt64 = 0
        /// The sum of their durations within the range, in nanoseconds.
        package internal(set) var time: UInt64 = 0
        /// The highest level, in bytes: the process's memory.
        package internal(set) var level: UInt64 = 0
        var bins = BinnedTime()

        init(_ subject: Subject) { self.subject = subject }
    }

    /// The events of a process or of one of its threads.
    package struct Lane: Sendable {
        package let process: UInt32
        /// The process's program, or empty if it is unknown.
        package internal(set) var program = ""
        /// The kernel's number of the thread, or `nil` for a lane of a process.
        package let thread: UInt32?
        /// The thread's name, or empty if it has none.
        package internal(set) var threadName = ""
        package internal(set) var isMainThread = false
        /// Whether the lane represents the threads beyond those with lanes of their own.
        package let isRest: Bool
        /// The tracks of scopes, the longest total time first.
        package internal(set) var scopes: [Track] = []
        /// The tracks of events, in the order of ``EventTimeline/kinds``.
        package internal(set) var tracks: [Track] = []

        init(process: UInt32, thread: UInt32?, isRest: Bool = false) {
            (self.process, self.thread, self.isRest) = (process, thread, isRest)
        }
    }

    /// The kinds of events that have tracks, in their order.
    ///
    /// Events of other kinds that share a track with one of these count as its.
    package static let kinds = EventKind.inTrackOrder.filter {
        $0.trackKind == $0 && ($0.isWork || $0 == .cpu || $0 == .memory)
    }

    /// The kinds whose tracks show events, by the events' kinds; `nil` if none does.
    private static let trackKinds = (0...EventKind.highest).map { number in
        EventKind(rawValue: UInt8(number)).map(\.trackKind).flatMap { kinds.contains($0) ? $0 : nil }
    }

    /// The kind whose track shows events of a kind, or `nil` if none does.
    static func trackKind(of kind: EventKind) -> EventKind? { trackKinds[Int(kind.rawValue)] }

    /// The shown time, in nanoseconds since the trace began.
    package let range: ClosedRange<UInt64>
    /// The lanes of processes in the order in which they began, each followed by those of its threads.
    package let lanes: [Lane]
    /// The number of selected events in the range, of any kind with a track.
    package let events: UInt64

    /// Returns the columns of a track, the earliest first.
    ///
    /// - Complexity: O(`number`).
    package func columns(of track: Track, _ number: Int) -> [Column] {
        track.bins.columns(number, over: range, holdsLevel: track.subject == .events(.memory))
    }
}
