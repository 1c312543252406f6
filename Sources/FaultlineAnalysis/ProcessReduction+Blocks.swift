internal import FaultlineTrace

/// What a main thread does in the store without a pause, while more may come.
struct OpenBlock: Sendable {
    var scope: EventID
    var start: UInt64
    var end: UInt64
    var time: UInt64 = 0
    var events: UInt64 = 0
    var longest: UInt64 = 0
    /// What took longest.
    var key: BlockEvidence.Key?

    mutating func add(_ event: TraceEvent, site: CallSite?) {
        end = max(end, event.end)
        events &+= 1
        time &+= event.duration
        if key == nil || event.duration > longest {
            longest = event.duration
            key = BlockEvidence.Key(kind: event.kind, site: site)
        }
    }
}

extension ProcessReduction {
    /// Nanoseconds in the store from which on a stretch is told: a frame at sixty a second, rounded down.
    static let blockThreshold: UInt64 = 16_000_000
    /// Nanoseconds without the store that end a stretch.
    static let blockPause: UInt64 = 1_000_000

    /// Adds an event that is part of no other to what its thread does, if that is a thread which draws.
    mutating func noteBlock(_ event: TraceEvent, in tables: inout ProfileTables) {
        guard event.isMainThread, event.isOnThread, event.parent == 0, event.kind != .wait else { return }
        let scope = unit(of: event.scope).id
        let isNext =
            blocks[event.thread].map {
                $0.scope == scope && event.start >= $0.start && event.start < $0.end &+ Self.blockPause
            } ?? false
        if !isNext, let block = blocks.removeValue(forKey: event.thread) { judge(block, in: &tables) }
        let site = callSite(of: event)
        let first = OpenBlock(scope: scope, start: event.start, end: event.end)
        blocks[event.thread, default: first].add(event, site: site)
    }

    /// Adds what main threads were doing at the end.
    mutating func finishBlocks(into tables: inout ProfileTables) {
        for thread in blocks.keys.sorted() {
            if let block = blocks.removeValue(forKey: thread) { judge(block, in: &tables) }
        }
    }

    private mutating func judge(_ block: OpenBlock, in tables: inout ProfileTables) {
        guard block.time >= Self.blockThreshold, let key = block.key, draws(in: block.scope) else { return }
        var evidence = BlockEvidence()
        evidence.stretches = 1
        evidence.events = block.events
        evidence.time = block.time
        evidence.longest = block.time
        evidence.longestParts = block.longest
        let surroundings = surroundings(
            of: block.scope, for: .blocks(key), outside: block.end &- min(block.start, block.end))
        evidence.lossyStretches = surroundings.lossyOccurrences
        evidence.scopes = surroundings.scopes
        evidence.wallTime = surroundings.wallTime
        tables.blocks[key, default: BlockEvidence()].merge(evidence)
    }

    /// Whether somebody looks at what a program's main thread does.
    ///
    /// It marks screens, or it is an app that Instruments recorded; others have nothing to draw.
    private func draws(in scope: EventID) -> Bool {
        if summary.source == .instruments { return true }
        return scopes.peek(scope)?.key?.kind == .screen
    }
}
