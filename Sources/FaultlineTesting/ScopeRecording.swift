@_exported public import FaultlineCounting
internal import FaultlineRecorder
internal import FaultlineTrace

/// The events of one piece of work, apart from everything else that happens meanwhile.
struct ScopeRecording {
    /// The events of the work's scope and of the scopes inside it.
    let events: [TraceEvent]
    /// The number of events lost meanwhile for lack of room, on any thread.
    let lost: UInt64
    /// Whether the recorder has recorded any store at all.
    let hasStore: Bool
    let messages: [TraceMessage]

    /// Drains a recorder in memory.
    ///
    /// - Parameters:
    ///   - scope: The work's scope.
    ///   - start: The number of messages before the work.
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
            // In a damaged recording, scopes can contain each other; marking them on the way ends the loop.
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
        // Losses cannot be attributed to a scope.
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
