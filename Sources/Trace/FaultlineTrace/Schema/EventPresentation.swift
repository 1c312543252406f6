internal import CTraceSchema

/// The presentation of a kind's events, and their role in a program, as the schema declares them.
package struct EventPresentation: Sendable {
    /// The title of the track that shows them, which kinds can share.
    package let track: String
    /// The word for how a track draws them, which is that of its first kind.
    package let style: String
    /// A word of a palette.
    package let colour: String
    /// The name of the field with a sample's weight, or `nil` if they have none.
    package let weight: String?
    fileprivate let role: fl_role

    private init(_ presentation: fl_presentation) {
        track = String(cString: presentation.track)
        style = String(cString: presentation.style)
        colour = String(cString: presentation.colour)
        weight = presentation.weight.pointee == 0 ? nil : String(cString: presentation.weight)
        role = presentation.role
    }

    fileprivate static let all: [(kind: EventKind, presentation: EventPresentation)] = {
        var count: UInt32 = 0
        guard let first = fl_presentations(&count) else { return [] }
        return (0..<Int(count)).compactMap { position in
            EventKind(rawValue: UInt8(first[position].kind.rawValue)).map { ($0, EventPresentation(first[position])) }
        }
    }()

    fileprivate static let byKind = Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0.presentation) })

    /// The kinds of a role, as bits by their raw values.
    fileprivate static func mask(_ role: fl_role) -> UInt64 {
        all.reduce(0) { $1.presentation.role == role ? $0 | 1 << UInt64($1.kind.rawValue) : $0 }
    }
}

extension EventKind {
    private static let workMask = EventPresentation.mask(FL_WORK)
    private static let sampleMask = EventPresentation.mask(FL_SAMPLE)

    /// All kinds, in the order of a timeline's tracks.
    package static let inTrackOrder = EventPresentation.all.map(\.kind)

    package var presentation: EventPresentation { EventPresentation.byKind[self]! }

    /// Whether events of the kind are what a thread does with the store, as opposed to marks, summaries and samples.
    package var isWork: Bool { Self.workMask >> UInt64(rawValue) & 1 != 0 }

    /// Whether events of the kind are samples of the program.
    package var isSample: Bool { Self.sampleMask >> UInt64(rawValue) & 1 != 0 }

    /// The first of the kinds with which this one shares a track.
    package var trackKind: EventKind { Self.trackKinds[self]! }

    private static let trackKinds = Dictionary(
        uniqueKeysWithValues: EventPresentation.all.map { kind, presentation in
            (kind, EventPresentation.all.first { $0.presentation.track == presentation.track }!.kind)
        })
}

extension TraceEvent {
    /// The field that the title of the event shows, with its value, or `nil` if there is none.
    package var titleValue: (field: EventSchema.Field, value: UInt64)? {
        guard let title = EventSchema.of(kind).title else { return nil }
        return detail.values.fields.first { $0.field.name == title.name }
    }
}
