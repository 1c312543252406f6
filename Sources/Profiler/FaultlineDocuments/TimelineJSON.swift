package import FaultlineProfile
internal import FaultlineTrace

/// The numbers of each column.
extension EventTimeline: JSONDocument {
    /// The number of columns.
    private static let columns = 100

    package static let name = "timeline"
    package static let title = "A timeline"
    package static let summary =
        "The output of `faultline timeline --format json`: the trace in columns of equal length. Times are in nanoseconds."
    package static let members: JSONMembers<EventTimeline> = [
        .init("from", \.range.lowerBound), .init("to", \.range.upperBound),
        .init("columns", "The number of columns.") { _ in columns },
        .init("columnDuration", "The length of a column, in nanoseconds.") {
            Double($0.range.upperBound - $0.range.lowerBound) / Double(columns)
        },
        .init("events", \.events),
        .init("lanes", "Threads or processes.") { timeline in
            timeline.lanes.map { NumberedLane(lane: $0, timeline: timeline) }
        },
    ]

    private struct NumberedLane: JSONObject {
        let lane: Lane
        let timeline: EventTimeline

        static let members: JSONMembers<NumberedLane> = [
            .init("process", "Null for the lane of the threads beyond those with lanes of their own.") {
                $0.lane.isRest ? nil : $0.lane.process
            },
            .init("program", "The path of the program.", \.lane.program), .init("thread", \.lane.thread),
            .init("threadName", \.lane.threadName), .init("isMainThread", \.lane.isMainThread),
            .init(
                "isRest", "Whether it represents the threads beyond those with lanes of their own.", \.lane.isRest),
            .init("scopes") { $0.numbers($0.lane.scopes) }, .init("tracks") { $0.numbers($0.lane.tracks) },
        ]

        private func numbers(_ tracks: [Track]) -> [NumberedTrack] {
            tracks.map { NumberedTrack(track: $0, columns: timeline.columns(of: $0, EventTimeline.columns)) }
        }
    }

    private struct NumberedTrack: JSONObject {
        let track: Track
        let columns: [Column]

        /// The kind of the events, or `nil` for scopes.
        private var kind: EventKind? { if case .events(let kind) = track.subject { kind } else { nil } }

        /// The name and the kind of the scopes, or `nil` for events and for scopes of several names.
        private var scope: (name: String, kind: TraceEvent.Scope.Kind)? {
            if case .scopes(let name, let kind) = track.subject { (name, kind) } else { nil }
        }

        static let members: JSONMembers<NumberedTrack> = [
            .init("kind", "The kind of the events or scopes, or null for scopes of several names.") {
                $0.kind?.name ?? $0.scope?.kind.jsonWord
            },
            .optional("name", "The name of the scopes, or null for those of several names.") {
                $0.kind == nil ? .some($0.scope?.name) : nil
            },
            .optional("title", "The track's name as texts print it.") { $0.kind?.presentation.track },
            .init("count", "The number of events.", \.track.events), .init("time", \.track.time),
            .init("covered", "The time of each column that events cover.") { $0.columns.map { $0.covered.rounded() } },
            .init("began", "The number of events that began in each column.") { $0.columns.map(\.events) },
            .optional("highest", "For memory, the highest reading, in bytes.") {
                $0.kind == .memory ? $0.track.level : nil
            },
            .optional("level", "For memory, the highest reading of each column, in bytes.") {
                $0.kind == .memory ? $0.columns.map(\.level) : nil
            },
        ]
    }
}
