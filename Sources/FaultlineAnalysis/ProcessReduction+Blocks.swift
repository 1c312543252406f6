internal import FaultlineTrace

/// What a main thread does in the store without a pause, while more may come.
struct OpenBlock: Sendable {
    var scope: EventID
    var stretch: Stretch
}

extension ProcessReduction {
    /// Nanoseconds in the store from which on a stretch is told: a frame at sixty a second, rounded down.
    static let blockThreshold = Threshold(
        "R12", "longBlock", 16_000_000, .time, "in the store without a pause on a main thread")

    /// Adds an event that is part of no other to what its thread does, if that is a thread which draws.
    mutating func noteBlock(_ event: TraceEvent, in tables: inout ProfileTables) {
        guard event.isMainThread, event.isOnThread, event.parent == 0, event.kind != .wait else { return }
        // The main queue does one thing at a time, though it may go from thread to thread.
        let scope = unit(of: event.scope).id
        let site = callSite(of: event)
        if let block, block.scope == scope, block.stretch.isContinued(by: event) {
            self.block?.stretch.add(event, site: site)
            return
        }
        if let block { judge(block, in: &tables) }
        block = OpenBlock(scope: scope, stretch: Stretch(event, site: site))
    }

    /// Adds what the main thread was doing at the end.
    mutating func finishBlocks(into tables: inout ProfileTables) {
        if let block { judge(block, in: &tables) }
        block = nil
    }

    private mutating func judge(_ block: OpenBlock, in tables: inout ProfileTables) {
        let stretch = block.stretch
        guard stretch.time >= Self.blockThreshold.count, draws(in: block.scope) else { return }
        let most = stretch.most
        let key = BlockEvidence.Key(kind: most.kind, site: most.site)
        var evidence = BlockEvidence()
        evidence.stretches = 1
        evidence.events = stretch.events
        evidence.time = stretch.time
        evidence.longest = stretch.time
        evidence.longestParts = most.time
        let surroundings = surroundings(
            of: block.scope, for: .blocks(key), outside: stretch.end &- min(stretch.start, stretch.end))
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
