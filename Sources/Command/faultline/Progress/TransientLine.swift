import Foundation

/// A line on the terminal of standard error that later output replaces.
final class TransientLine: Sendable {
    /// The terminal, opened anew so that writing does not wait, and the command's descriptors stay as they are.
    ///
    /// A user can stop the output with Ctrl-S, and the work must go on all the same.
    private let terminal: FileHandle

    /// Returns `nil` if standard error is not a terminal that can erase a line.
    init?() {
        guard isatty(STDERR_FILENO) != 0, ProcessInfo.processInfo.environment["TERM"] ?? "dumb" != "dumb" else {
            return nil
        }
        let descriptor = open("/proc/self/fd/\(STDERR_FILENO)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The number of characters that fit in the line.
    var width: Int { max(1, (Terminal.errors.columns ?? 80) - 1) }

    /// Shows a text, and leaves the cursor at its beginning.
    func show(_ text: String) { write("\(text.prefix(width))\u{1B}[K\r") }

    /// Removes the line.
    func clear() { write("\u{1B}[K") }

    /// Writes as much of a text as the terminal takes at once, if it is this process's turn to use it.
    private func write(_ text: String) {
        let group = tcgetpgrp(terminal.fileDescriptor)
        // A terminal that does not control this process has no group to compare.
        guard group < 0 || group == getpgrp() else { return }
        _ = Foundation.write(terminal.fileDescriptor, text, text.utf8.count)
    }
}
