/// Chooses one in a number of events, for work so frequent that measuring each would cost more than the work.
struct Sampling {
    private let interval: Int
    private var left: Int

    /// - Parameters:
    ///   - interval: The number of events of which one is chosen.
    ///   - first: The number of events before the first that is chosen.
    init(every interval: Int, after first: Int) {
        (self.interval, left) = (interval, first)
    }

    /// Counts an event; returns whether it is chosen.
    @inline(__always)
    mutating func next() -> Bool {
        left -= 1
        guard left < 0 else { return false }
        left = interval - 1
        return true
    }
}
