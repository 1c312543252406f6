internal import FaultlineTrace

/// A share of some events that is equal throughout a trace, whenever it was made smaller.
struct EqualShare {
    /// Events whose rank is at most this one belong to it.
    private var greatest = UInt64.max

    /// Makes the share smaller, so that a number of events are left.
    ///
    /// - Parameter ranks: Those of all events; some may not belong to it.
    mutating func keep(_ number: Int, of ranks: [UInt64]) {
        let own = ranks.filter { $0 <= greatest }.sorted()
        guard number < own.count else { return }
        greatest = number > 0 ? own[number - 1] : 0
    }

    func contains(_ event: EventID, _ start: UInt64) -> Bool { Self.rank(event, start) <= greatest }

    /// A number that follows from an event's number and time, and says nothing about its place in the trace.
    static func rank(_ event: EventID, _ start: UInt64) -> UInt64 {
        // The finalizer of MurmurHash3, by which each bit depends on all: events of logs have no numbers.
        var bits = event &+ start &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 33) &* 0xFF51_AFD7_ED55_8CCD
        bits = (bits ^ bits >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return bits ^ bits >> 33
    }
}
