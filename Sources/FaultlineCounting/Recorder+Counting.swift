public import FaultlineRecorder

extension Recorder {
    /// Runs work and counts its requests to the stores that this recorder records.
    ///
    /// The recorder must keep its events in memory (``Recorder/memory(ringBytes:)``); with any other, the counts are
    /// zero. Events on other threads meanwhile count as well.
    ///
    /// - Returns: The result of the work, and the counts.
    /// - Throws: The error of the work.
    /// - Complexity: O(everything that the recorder has recorded so far).
    public func countingStore<Result>(_ work: () throws -> Result) rethrows -> (result: Result, counts: StoreCounts) {
        let before = messages().count
        let result = try work()
        return (result, StoreCounts(messages().dropFirst(before)))
    }
}
