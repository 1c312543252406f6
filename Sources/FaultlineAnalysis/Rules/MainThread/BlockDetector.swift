internal import FaultlineTrace

/// Finds work in the store that keeps a main thread from drawing.
struct BlockDetector: EvidenceDetector {
    static let name = "blocks"
    static let kinds = EventKind.work.subtracting([.wait])
    static let wallTime: (any WritableKeyPath<BlockEvidence, UInt64> & Sendable)? = \BlockEvidence.wallTime

    /// Nanoseconds in the store without a pause that count: a frame at sixty a second, rounded down.
    static let threshold = Threshold(
        "R12", "longBlock", 16_000_000, .time, "minimum time in the store without a pause on a main thread")

    var evidence: [BlockEvidence.Key: BlockEvidence] = [:]
    /// What the main thread is doing, or whichever thread does its work.
    private var open: OpenBlock?

    /// What a main thread does in the store without a pause, while more may come.
    private struct OpenBlock: Sendable {
        var scope: EventID
        var interval: BusyInterval
    }

    /// Adds an event that is part of no other to what its thread does, if that is a thread which draws.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard event.isMainThread, event.isOnThread, event.parent == 0 else { return }
        // The main queue does one thing at a time, though it may go from thread to thread.
        let scope = context.unit(of: event.scope).id
        if open?.scope == scope, open?.interval.isContinued(by: event) == true {
            open?.interval.add(event) { context.callSite(of: event) }
            return
        }
        evaluate(in: &context)
        open = OpenBlock(scope: scope, interval: BusyInterval(event, site: context.callSite(of: event)))
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(in: &context)
        open = nil
    }

    private mutating func evaluate(in context: inout ProcessContext) {
        guard let block = open else { return }
        let interval = block.interval
        guard interval.time >= Self.threshold.count, Self.draws(in: block.scope, context) else { return }
        let most = interval.most
        let key = BlockEvidence.Key(kind: most.kind, site: most.site)
        var found = BlockEvidence()
        found.stretches = 1
        found.events = interval.events
        found.time = interval.time
        found.longest = interval.time
        found.longestParts = most.time
        let surroundings = surroundings(
            of: block.scope, for: key, outside: interval.end &- min(interval.start, interval.end), in: &context)
        found.lossyStretches = surroundings.lossyOccurrences
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
    }

    /// Whether somebody looks at what a program's main thread does.
    ///
    /// It marks screens, or it is an app whose recording cannot mark any; others have nothing to draw.
    private static func draws(in scope: EventID, _ context: ProcessContext) -> Bool {
        if context.summary.isApp { return true }
        return context.scopes.peek(scope)?.key?.kind == .screen
    }
}
