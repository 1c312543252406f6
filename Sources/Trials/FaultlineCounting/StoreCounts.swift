public import FaultlineRecorder
public import FaultlineTrace

/// The counts of a piece of work's requests to its store, which, unlike times, are exact.
///
///     let (albums, counts) = try recorder.countingStore { try showAlbums() }
///     #expect(counts.trips <= 3)
///     #expect(counts.cacheMisses == 0)
public struct StoreCounts: Sendable, Hashable {
    /// Round trips to SQLite: the statements of fetches, batches, prefetches, faults and saves.
    public var trips = 0
    /// Rows that fetches, batches and prefetches read, and that faults filled from the store.
    public var rows = 0
    /// Bytes of the values in those rows.
    public var bytes = 0
    /// Faults that fired, whether or not the row cache served them.
    public var faults = 0
    /// Faults that the row cache could not serve.
    public var cacheMisses = 0
    /// Fetch requests that ran; batches do not count.
    public var fetches = 0
    /// Saves that wrote something, or tried to.
    public var saves = 0
    /// Objects that saves inserted, updated and deleted.
    public var writtenObjects = 0
    /// Events that did not fit the recorder's memory; if there are any, the other counts are too low.
    public var lostEvents = 0

    /// Creates counts that are all 0.
    public init() {}

    /// Adds up events.
    ///
    /// - Complexity: O(events).
    public init(_ messages: some Sequence<TraceMessage>) {
        for message in messages { add(message) }
    }

    mutating func add(_ message: TraceMessage) {
        switch message {
        case .event(let event): add(event)
        case .lost(let loss): lostEvents += Int(clamping: loss.events)
        default: break
        }
    }

    private mutating func add(_ event: TraceEvent) {
        if event.kind != .sql { trips += Int(clamping: event.trips) }
        switch event.detail {
        case .fetch(let fetch):
            fetches += 1
            // A count does not read its rows.
            rows += (fetch.resultType == .count ? 0 : Int(fetch.rows)) + Int(fetch.prefetchedRows)
            bytes += Int(clamping: fetch.bytes) + Int(clamping: fetch.prefetchedBytes)
        case .batch(let batch):
            rows += Int(batch.rows) + Int(batch.prefetchedRows)
            bytes += Int(clamping: batch.bytes) + Int(clamping: batch.prefetchedBytes)
        case .fault(let fault):
            faults += 1
            guard fault.source != .rowCache else { break }
            cacheMisses += 1
            rows += Int(fault.filled)
            bytes += Int(clamping: fault.bytes)
        case .save(let save):
            saves += 1
            writtenObjects += Int(save.inserted) + Int(save.updated) + Int(save.deleted)
        default: break
        }
    }
}

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
