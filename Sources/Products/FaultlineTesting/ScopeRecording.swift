@_exported public import FaultlineCounting
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineReader
internal import FaultlineRecorder
internal import FaultlineReport
internal import FaultlineRules
internal import FaultlineTrace
internal import Synchronization

/// The events of one piece of work, apart from everything else that happens meanwhile.
struct ScopeRecording {
    /// The events of the work's scope and of the scopes inside it.
    let events: [TraceEvent]
    /// The number of events lost meanwhile for lack of room, on any thread.
    let lost: UInt64
    /// Whether the recorder has recorded any store at all.
    let hasStore: Bool
    let messages: [TraceMessage]

    /// Whether the work asked a store that records here for anything, the row cache included.
    var hasWork: Bool { events.contains { $0.kind != .scope } }

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

extension ScopeRecording {
    /// Shared, so that each program is opened only once, however many expectations fail.
    private static let symbols = Mutex(SymbolResolver())

    /// Lists the trips line by line, with the analyzer's advice.
    ///
    /// - Complexity: The first call opens the programs and libraries in the stacks.
    func explanation() -> String {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        let addresses = Set(events.map(\.stack)).compactMap { dictionary.stack($0) }.flatMap(\.addresses)
        let modules = dictionary.modules
        let frames = Self.symbols.withLock { $0.frames(for: addresses.sorted(), modules: modules) }
        for (index, frame) in frames.enumerated() { dictionary.insert(.frame(frame), id: DictionaryID(index + 1)) }
        let trips = TripText(events, dictionary: dictionary).render()
        let advice = self.advice(frames).map { "\n  → \($0)" }.joined()
        return trips + advice
    }

    /// The findings in the work's events, one line each.
    private func advice(_ frames: [FrameEntry]) -> [String] {
        var builder = ProfileBuilder()
        var process: UInt32 = 0
        for message in messages {
            switch message {
            case .began(let began): process = began.process
            case .entry: break
            default: continue
            }
            builder.add(message)
        }
        for (index, frame) in frames.enumerated() {
            builder.add(.entry(process: process, id: DictionaryID(index + 1), .frame(frame)))
        }
        for event in events { builder.add(.event(event)) }
        return Analysis(builder.finish()).findings.filter { $0.saving.trips > 0 }.prefix(3).map { finding in
            finding.title.text + (finding.change.map { ", \($0)" } ?? "") + " (\(finding.rule))"
        }
    }
}
