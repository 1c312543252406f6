extension TraceEvent {
    /// When it ended, in nanoseconds since the trace began.
    public var end: UInt64 { start &+ duration }

    /// How long it took while its thread ran or slept, in nanoseconds: what it takes wherever CPUs are free.
    public var ownDuration: UInt64 { duration > runDelay ? duration - runDelay : 0 }

    /// Whether the event took up time of its thread.
    ///
    /// A summary and a release did not, nor did a wait that blocked no thread.
    public var isOnThread: Bool {
        if case .wait(let wait) = detail { return wait.isBlocking }
        return !kind.isInstant
    }

    /// Figures that a recording leaves out.
    public struct Untold: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// How long the event took.
        public static let duration = Untold(rawValue: 1)
        /// How many rows it returned or wrote.
        public static let rows = Untold(rawValue: 2)
    }
}
