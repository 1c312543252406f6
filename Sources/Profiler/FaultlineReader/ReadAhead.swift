import FaultlineTrace
import Foundation
import Synchronization

/// Delivers the messages of a trace while another thread reads the next ones.
///
/// Parsing lines and processing events take about the same time, so the two overlap.
enum ReadAhead {
    /// The number of messages in a batch, large enough to make the cost of waking a thread negligible.
    private static let batchLength = 512
    /// The maximum number of batches that may wait, which bounds memory.
    private static let batches = 4

    /// The state that both threads share.
    private final class Exchange: Sendable {
        struct State {
            var waiting: [[TraceMessage]] = []
            /// The outcome of reading; `nil` while it goes on.
            var ending: Result<ReadingSummary, any Error>?
            /// Whether the consumer has stopped.
            var isCancelled = false
        }

        let state = Mutex(State())
        /// Counts waiting batches, and the end.
        let filled = DispatchSemaphore(value: 0)
        /// Counts free slots for batches.
        let room = DispatchSemaphore(value: ReadAhead.batches)
    }

    private struct Cancelled: Error {}

    /// Reads the events of a source whose names have been read.
    ///
    /// - Throws: The source's error, after everything before it was delivered, or the error of `body`.
    static func readEvents(
        of source: any TraceSource, _ body: (TraceMessage) throws -> Void
    ) throws -> ReadingSummary {
        let exchange = Exchange()
        // Only the thread uses the source until it ends, and this function waits for that.
        nonisolated(unsafe) let source = source
        let observer = ReadingProgress.observer
        let thread = Thread { ReadingProgress.$observer.withValue(observer) { produce(source, into: exchange) } }
        thread.name = "faultline-reader"
        thread.start()
        var failure: (any Error)?
        while true {
            exchange.filled.wait()
            let (batch, ending) = exchange.state.withLock { state in
                state.waiting.isEmpty ? (nil, state.ending) : (state.waiting.removeFirst(), nil)
            }
            if let ending {
                if let failure { throw failure }
                return try ending.get()
            }
            if let batch, failure == nil {
                do {
                    for message in batch { try body(message) }
                } catch {
                    failure = error
                    exchange.state.withLock { $0.isCancelled = true }
                }
            }
            exchange.room.signal()
        }
    }

    private static func produce(_ source: any TraceSource, into exchange: Exchange) {
        var batch: [TraceMessage] = []
        func send() throws {
            exchange.room.wait()
            let isCancelled = exchange.state.withLock { state in
                state.waiting.append(batch)
                return state.isCancelled
            }
            exchange.filled.signal()
            if isCancelled { throw Cancelled() }
            batch = []
            batch.reserveCapacity(batchLength)
        }
        let ending = Result {
            try source.readEvents { message in
                batch.append(message)
                if batch.count == batchLength { try send() }
            }
        }
        if !batch.isEmpty { try? send() }
        exchange.state.withLock { $0.ending = ending }
        exchange.filled.signal()
    }
}
