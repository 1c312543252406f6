internal import FaultlineTrace

/// What a thread did in the store without a pause.
struct Stretch: Sendable {
    /// Nanoseconds without the store that end a stretch.
    static let pause: UInt64 = 1_000_000

    let start: UInt64
    private(set) var end: UInt64
    /// In the store, in nanoseconds.
    private(set) var time: UInt64
    private(set) var events: UInt64 = 1
    /// The longest event: how long it took, what it was and where it was asked for.
    private(set) var longest: UInt64
    private(set) var kind: EventKind
    private(set) var site: CallSite?
    /// It itself, if it was a save.
    private(set) var save: TraceEvent?

    /// - Parameter event: One that is part of no other.
    init(_ event: TraceEvent, site: CallSite?) {
        start = event.start
        end = event.end
        time = event.duration
        longest = event.duration
        kind = event.kind
        self.site = site
        save = event.kind == .save ? event : nil
    }

    /// Whether an event follows without a pause.
    func isContinued(by event: TraceEvent) -> Bool {
        event.start >= start && event.start < end &+ Self.pause
    }

    mutating func add(_ event: TraceEvent, site: CallSite?) {
        end = max(end, event.end)
        time &+= event.duration
        events &+= 1
        guard event.duration > longest else { return }
        (longest, kind, self.site) = (event.duration, event.kind, site)
        save = event.kind == .save ? event : nil
    }
}
