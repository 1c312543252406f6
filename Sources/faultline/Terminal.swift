import FaultlineAnalysis
import FaultlineReport
import Foundation

/// A stream that the command writes to, and what it is.
struct Terminal {
    private let descriptor: Int32
    private let name: String

    static let output = Terminal(descriptor: STDOUT_FILENO, name: "standard output")
    static let errors = Terminal(descriptor: STDERR_FILENO, name: "standard error")

    /// Whether colours are wanted: on a terminal only, and not if `NO_COLOR` is set (https://no-color.org).
    var wantsColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        return isatty(descriptor) != 0 && environment["TERM"] != "dumb"
    }

    /// How many columns a terminal has; `nil`: it is none.
    var columns: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// How many columns a line may have: the terminal's, between 80 and 120; 100 where there is none.
    var width: Int { columns.map { min(max($0, 80), 120) } ?? 100 }

    /// Writes text whose lines are laid out.
    ///
    /// Whatever else a terminal would obey is made printable, apart from the colours of reports: names in it may be anybody's.
    ///
    /// What cannot be written to standard error is left out: the exit status must not hang on it. A reader of the output
    /// that has gone (`faultline events … | head`) ends the command without a word, as pipes do.
    ///
    /// - Throws: ``CommandFailure`` if the output cannot be written for another reason, such as a full disk.
    func write(_ text: String) throws {
        try write(verbatim: Ink.printable(page: text, isColoured: wantsColour))
    }

    /// Writes JSON; what a terminal would obey is escaped in it, which leaves its values as they are.
    ///
    /// - Throws: ``CommandFailure``, as for text.
    func write(json: String) throws {
        try write(verbatim: Phrase.escaped(json: json))
    }

    private func write(verbatim text: String) throws {
        var text = text
        let failure = text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count > 0 {
                    written += count
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
        guard failure != 0, descriptor != STDERR_FILENO else { return }
        if failure == EPIPE { exit(0) }
        throw CommandFailure.tool(
            "Writing to \(name) failed (\(String(cString: strerror(failure)))); free some space, or write elsewhere.")
    }

    /// Writes a sentence to standard error, as the command's own, in one line.
    static func tell(_ sentence: String) {
        try? errors.write("faultline: \(Phrase.printable(sentence))\n")
    }
}
