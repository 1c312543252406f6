import FaultlineFindings
import FaultlineRecorder
import Foundation

/// A line on the terminal that shows how a recording goes: `recording for 12 s: 1,234,567 events, 45.6 MB, none lost`.
///
/// The command may use the same terminal: longer output of it replaces the line, and shorter output leaves its end. The line
/// is therefore shown only if the command's standard output goes elsewhere, or if the user asks for it.
final class ProgressLine {
    private let line: TransientLine
    private let start = ContinuousClock.now
    private var next = ContinuousClock.now + ProgressLine.period

    /// The time between two updates.
    private static let period: Swift.Duration = .milliseconds(500)

    /// Returns `nil` if there is nothing to show the line on.
    init?(isWanted: Bool) {
        guard isWanted || isatty(STDOUT_FILENO) == 0, let line = TransientLine() else { return nil }
        self.line = line
    }

    /// Shows the state of a recording, at most twice a second.
    func show(_ progress: @autoclosure () -> TraceCollector.Progress?) {
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + Self.period
        line.show(Self.text(seconds: (now - start).components.seconds, progress()))
    }

    /// Removes the line.
    func clear() { line.clear() }

    /// The text of the line.
    static func text(seconds: Int64, _ progress: TraceCollector.Progress?) -> String {
        let time = seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
        guard let progress else { return "recording for \(time)" }
        let lost = progress.lost == 0 ? "none lost" : "\(Phrase.count(progress.lost)) lost"
        return "recording for \(time): \(Phrase.count(progress.events, "event")), "
            + "\(Phrase.size(Double(progress.bytes))), \(lost)"
    }
}
