import FaultlineFindings
import FaultlineReader
import FaultlineReport
import Foundation
import Synchronization

/// Shows on the terminal how far a long operation is.
///
/// It appears after a second, on standard error only, and disappears at the end. An operation within another one has
/// no bar of its own.
final class ProgressBar: Sendable {
    /// The time before the bar is shown.
    private static let delay: Swift.Duration = .seconds(1)
    /// The time between two updates.
    private static let period: Swift.Duration = .milliseconds(100)

    /// The bar of the operation that is under way.
    private static let active = Mutex<ProgressBar?>(nil)

    private struct State {
        var next: ContinuousClock.Instant
        var isShown = false
    }

    private let text: ProgressText
    private let line: TransientLine
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    private init?(_ text: ProgressText) {
        guard let line = TransientLine() else { return nil }
        (self.text, self.line) = (text, line)
        state = Mutex(State(next: start + Self.delay))
    }

    /// Runs an operation with a bar, or without one if there is no terminal to show it on.
    ///
    /// - Parameters:
    ///   - title: The name of the operation, such as `"reading trace.json"`.
    ///   - isWanted: Whether to show a bar at all.
    ///   - body: The operation. It is passed a function that it calls with the amount that is done, and the whole
    ///     amount, from any thread.
    static func during<Result>(
        _ title: String, _ unit: ProgressText.Unit, isWanted: Bool = true,
        _ body: ((@Sendable (_ done: UInt64, _ total: UInt64) -> Void)?) throws -> Result
    ) rethrows -> Result {
        let isFree = active.withLock { $0 == nil }
        guard isWanted, isFree, let bar = ProgressBar(ProgressText(Phrase.printable(title), unit)) else {
            return try body(nil)
        }
        active.withLock { $0 = bar }
        defer {
            active.withLock { $0 = nil }
            bar.clear()
        }
        return try body { bar.show($0, of: $1) }
    }

    /// Reads a file with a bar.
    ///
    /// - Parameter body: The reading, which reports how far it is (``ReadingProgress``).
    static func whileReading<Result>(_ title: String, isWanted: Bool = true, _ body: () throws -> Result) rethrows
        -> Result
    {
        try during(title, .bytes, isWanted: isWanted) { show in
            guard let show else { return try body() }
            return try ReadingProgress.$observer.withValue(.init(show)) { try body() }
        }
    }

    /// Removes the bar, so that other output can take its place.
    static func makeRoom() { active.withLock { $0 }?.clear() }

    private func show(_ done: UInt64, of total: UInt64) {
        let now = ContinuousClock.now
        state.withLock { state in
            guard now >= state.next else { return }
            state.next = now + Self.period
            state.isShown = true
            let elapsed = (now - start) / Swift.Duration.seconds(1)
            line.show(text.line(done, of: total, after: elapsed, width: line.width))
        }
    }

    private func clear() {
        state.withLock { state in
            if state.isShown { line.clear() }
            state.isShown = false
        }
    }
}
