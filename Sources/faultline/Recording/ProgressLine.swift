import FaultlineAnalysis
import FaultlineRecorder
import Foundation

/// A line on the terminal that shows how a recording goes: `recording for 12 s: 1,234,567 events, 45.6 MB, none lost`.
///
/// The command may use the same terminal: longer output of it replaces the line, and shorter output leaves its end. The line
/// is therefore shown only if the command's standard output goes elsewhere, or if the user asks for it.
final class ProgressLine {
    /// The terminal, opened anew so that writing does not wait, and the command's descriptors stay as they are.
    ///
    /// A user can stop the output with Ctrl-S, and the rings must be emptied all the same.
    private let terminal: FileHandle
    private let start = ContinuousClock.now
    private var next = ContinuousClock.now + ProgressLine.period

    /// The time between two updates.
    private static let period: Swift.Duration = .milliseconds(500)

    /// Returns `nil` if there is nothing to show the line on.
    init?(isWanted: Bool) {
        guard isatty(STDERR_FILENO) != 0, isWanted || isatty(STDOUT_FILENO) == 0 else { return nil }
        guard ProcessInfo.processInfo.environment["TERM"] ?? "dumb" != "dumb" else { return nil }
        let descriptor = open("/proc/self/fd/\(STDERR_FILENO)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Shows the state of a recording, at most twice a second.
    func show(_ progress: @autoclosure () -> TraceCollector.Progress?) {
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + Self.period
        let text = Self.text(seconds: (now - start).components.seconds, progress())
        let width = max(1, (Terminal.errors.columns ?? 80) - 1)
        write("\(text.prefix(width))\u{1B}[K\r")
    }

    /// Removes the line.
    func clear() { write("\u{1B}[K") }

    /// Writes as much of a text as the terminal takes at once, if it is this process's turn to use it.
    private func write(_ text: String) {
        let group = tcgetpgrp(terminal.fileDescriptor)
        // A terminal that does not control this process has no group to compare.
        guard group < 0 || group == getpgrp() else { return }
        _ = Foundation.write(terminal.fileDescriptor, text, text.utf8.count)
    }

    /// The text of the line.
    static func text(seconds: Int64, _ progress: TraceCollector.Progress?) -> String {
        let time = seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
        guard let progress else { return "recording for \(time)" }
        let lost = progress.lost == 0 ? "none lost" : "\(Phrase.count(progress.lost)) lost"
        return "recording for \(time): \(Phrase.count(progress.events, "event")), "
            + "\(Phrase.size(Double(progress.bytes))), \(lost)"
    }
}
