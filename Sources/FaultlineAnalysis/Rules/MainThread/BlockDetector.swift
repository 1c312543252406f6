internal import FaultlineTrace

/// Detects work in the store that keeps a main thread from drawing.
struct BlockDetector: EvidenceDetector {
    static let name = "blocks"
    static let kinds = EventKind.work.subtracting([.wait, .migration])
    static let wallTime: (any WritableKeyPath<BlockEvidence, UInt64> & Sendable)? = \BlockEvidence.wallTime

    /// The minimum busy interval in the store, in nanoseconds: a frame at 60 Hz, rounded down.
    static let threshold = Threshold(
        "R12", "longBlock", 16_000_000, .time, "minimum time in the store without a pause on a main thread")

    var evidence: [BlockEvidence.Key: BlockEvidence] = [:]
    /// The open interval of the main thread, or of whichever thread runs the main queue.
    private var open: OpenBlock?

    /// An open busy interval of a main thread.
    private struct OpenBlock: Sendable {
        var scope: EventID
        var interval: BusyInterval
    }

    /// Adds an outermost event on a main thread to its busy interval.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard event.isMainThread, event.isOnThread, event.parent == 0 else { return }
        // The main queue does one thing at a time, even if it moves between threads.
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

    /// Whether a scope of the main thread draws.
    ///
    /// It does if it marks a screen, or if the program is an app whose recording cannot mark screens. Other programs
    /// have nothing to draw.
    private static func draws(in scope: EventID, _ context: ProcessContext) -> Bool {
        if context.summary.isApp { return true }
        return context.scopes.peek(scope)?.key?.kind == .screen
    }
}

extension Profile {
    /// Operations that blocked main threads and kept them from drawing.
    public var blocks: [(key: BlockEvidence.Key, evidence: BlockEvidence)] {
        evidence(of: BlockDetector.self)
    }
}
