@_exported public import FaultlineCounting
internal import FaultlineRecorder
internal import FaultlineTrace

/// What one piece of work asked of a recorder's stores, whatever else went on meanwhile.
struct ScopeRecording {
    /// The events of the work's scope and of the scopes inside it.
    let events: [TraceEvent]
    /// Events that were lost for want of room meanwhile, on any thread.
    let lost: UInt64
    /// Whether the recorder has recorded any store at all.
    let hasStore: Bool
    let messages: [TraceMessage]

    /// Takes out what a recorder in memory has recorded.
    ///
    /// - Parameters:
    ///   - scope: The work's scope.
    ///   - start: How many messages there were before the work.
    init(_ recorder: Recorder, scope: EventID, from start: Int) {
        messages = recorder.messages()
        let recent = messages.dropFirst(start)
        var outer: [EventID: EventID] = [:]
        for case .event(let event) in recent {
            if case .scope(let fields) = event.detail, fields.phase == .begin { outer[event.id] = event.scope }
        }
        var inside: [EventID: Bool] = [0: false, scope: true]
        func isWithin(_ id: EventID) -> Bool {
            var way: [EventID] = []
            var current = id
            // Who is on the way already is within itself, as a damaged recording has it.
            while inside[current] == nil {
                inside[current] = false
                way.append(current)
                current = outer[current] ?? 0
            }
            let isInside = inside[current] ?? false
            for scope in way { inside[scope] = isInside }
            return isInside
        }
        events = recent.compactMap { message in
            guard case .event(let event) = message, isWithin(event.scope) else { return nil }
            return event
        }
        // Nobody knows whose they were.
        lost = recent.reduce(0) { sum, message in
            guard case .lost(let loss) = message else { return sum }
            return sum + loss.events
        }
        hasStore = messages.contains { message in
            guard case .event(let event) = message else { return false }
            return event.kind != .scope
        }
    }

    var counts: StoreCounts { StoreCounts(events.map { .event($0) }) }
}
