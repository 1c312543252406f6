@_exported public import FaultlineCounting
internal import FaultlineRecorder
internal import FaultlineTrace

/// What one piece of work asked of a recorder's stores, whatever else went on meanwhile.
struct ScopeRecording {
    /// The events of the work's scope and of the scopes inside it.
    let events: [TraceEvent]
    /// Events that threads of the work lost for want of room.
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
        // A scope has another around it that began before, so that the way up ends.
        func isWithin(_ id: EventID) -> Bool {
            var current = id
            while current != 0 {
                if current == scope { return true }
                current = outer.removeValue(forKey: current) ?? 0
            }
            return false
        }
        let around = outer
        var inside: [EventID: Bool] = [:]
        events = recent.compactMap { message in
            guard case .event(let event) = message else { return nil }
            if let known = inside[event.scope] { return known ? event : nil }
            outer = around
            let isInside = isWithin(event.scope)
            inside[event.scope] = isInside
            return isInside ? event : nil
        }
        let threads = Set(events.map(\.thread))
        lost = recent.reduce(0) { sum, message in
            guard case .lost(let loss) = message, threads.contains(loss.thread) else { return sum }
            return sum + loss.events
        }
        hasStore = messages.contains { message in
            guard case .event(let event) = message else { return false }
            return event.kind != .scope
        }
    }

    var counts: StoreCounts { StoreCounts(events.map { .event($0) }) }
}
