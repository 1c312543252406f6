public import FaultlineRecorder

extension Recorder {
    /// Does work and counts what it asked of the stores that this recorder records.
    ///
    /// The recorder must keep its events in memory (``Recorder/memory(ringBytes:)``); with any other the counts are zero.
    /// What other threads do meanwhile is counted as well.
    ///
    /// - Returns: what the work returns, and the counts.
    /// - Throws: what the work throws.
    /// - Complexity: O(everything that the recorder has recorded until now).
    public func countingStore<Result>(_ work: () throws -> Result) rethrows -> (result: Result, counts: StoreCounts) {
        let before = messages().count
        let result = try work()
        return (result, StoreCounts(messages().dropFirst(before)))
    }
}
