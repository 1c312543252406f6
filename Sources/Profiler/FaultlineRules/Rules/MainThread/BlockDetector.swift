internal import FaultlineProfile
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
    var blocks: [(key: BlockEvidence.Key, evidence: BlockEvidence)] {
        evidence(of: BlockDetector.self)
    }
}

/// Work in the store that kept the main thread of a program with screens from drawing for at least a frame.
///
/// It includes only busy intervals that passed the threshold. Each is work without a pause, and belongs to the line
/// that caused most of it.
struct BlockEvidence: Sendable {
    struct Key: Sendable, Hashable {
        /// The kind of work that took longest.
        var kind: EventKind
        /// The line of the program that caused it, or `nil` if the trace does not have it.
        var site: CallSite?
    }

    /// The number of busy intervals, and of those in which events were lost.
    var stretches: UInt64 = 0
    var lossyStretches: UInt64 = 0
    /// The number of events in the busy intervals.
    var events: UInt64 = 0
    /// The time in the store, in nanoseconds: in all intervals, and in the longest one.
    var time: UInt64 = 0
    var longest: UInt64 = 0
    /// The total time of each interval's longest part, in nanoseconds.
    var longestParts: UInt64 = 0
    var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes of the busy intervals, in nanoseconds.
    var wallTime: UInt64 = 0

    init() {}
}

extension BlockEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<BlockEvidence>] = [
        .sum("stretches", \.stretches), .sum("lossyStretches", \.lossyStretches), .sum("events", \.events),
        .sum("time", \.time), .maximum("longest", \.longest), .sum("longestParts", \.longestParts),
        .part("scopes", \.scopes), .sum("wallTime", \.wallTime),
    ]
}

extension BlockEvidence.Key {
    var sortText: String { [kind.name, site?.sortText ?? ""].joined(separator: "\u{2}") }
}

extension BlockEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([kind.stored(&words), site.stored(&words)])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(kind: try EventKind(parts[0], words), site: try CallSite?(parts[1], words))
    }
}
