import FaultlineTrace
import Foundation
import Synchronization

/// Hands over the messages of a trace while the next ones are being read on a thread of their own.
///
/// Parsing lines and summing up events take about as long, and each goes on while the other does.
enum ReadAhead {
    /// Messages that are handed over at a time: enough that waking a thread does not count.
    private static let batchLength = 512
    /// Batches that may wait, so that memory has a bound.
    private static let batches = 4

    /// What both threads know.
    private final class Exchange: Sendable {
        struct State {
            var waiting: [[TraceMessage]] = []
            /// How reading ended; `nil`: it goes on.
            var ending: Result<ReadingSummary, any Error>?
            /// Whether nobody takes any more.
            var isCancelled = false
        }

        let state = Mutex(State())
        /// Counts batches that wait, and the end.
        let filled = DispatchSemaphore(value: 0)
        /// Counts the room for batches.
        let room = DispatchSemaphore(value: ReadAhead.batches)
    }

    private struct Cancelled: Error {}

    /// Reads the events of a source, whose names have been read.
    ///
    /// - Throws: what reading throws, after all that came before it was handed over; what `body` throws.
    static func readEvents(
        of source: any TraceSource, _ body: (TraceMessage) throws -> Void
    ) throws -> ReadingSummary {
        let exchange = Exchange()
        // The source is used by the thread alone until it has ended, which is waited for.
        nonisolated(unsafe) let source = source
        let thread = Thread { produce(source, into: exchange) }
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
