import FaultlineFindings
import FaultlineReport
import Foundation

/// An output stream of the command.
struct Terminal {
    private let descriptor: Int32
    private let name: String

    static let output = Terminal(descriptor: STDOUT_FILENO, name: "standard output")
    static let errors = Terminal(descriptor: STDERR_FILENO, name: "standard error")

    /// Whether to use colours: on a terminal, or if `FORCE_COLOR` or `CLICOLOR_FORCE` is set, as for a pager; but not if
    /// `NO_COLOR` is set (https://no-color.org, https://force-color.org, https://bixense.com/clicolors).
    var wantsColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        let isSet = { (name: String) in environment[name].map { !$0.isEmpty && $0 != "0" } ?? false }
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        if isSet("FORCE_COLOR") || isSet("CLICOLOR_FORCE") { return true }
        return isatty(descriptor) != 0 && environment["TERM"] != "dumb"
    }

    /// The number of columns of the terminal, or `nil` if the stream is not a terminal.
    var columns: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether the stream is a terminal.
    var isTerminal: Bool { isatty(descriptor) != 0 }

    /// The maximum width of a line: the terminal's width, limited to 80–120, or 100 if there is none.
    var width: Int { columns.map { min(max($0, 80), 120) } ?? 100 }

    /// Writes text that is already laid out.
    ///
    /// Everything a terminal would interpret is made printable, except the colours of reports, because names in the
    /// text can contain anything.
    ///
    /// Errors of writing to standard error are ignored, because the exit status must not depend on them. If the reader
    /// of the output has gone (`faultline events … | head`), the command ends silently, as usual with pipes.
    ///
    /// - Throws: ``CommandFailure`` if the output cannot be written for another reason, such as a full disk.
    func write(_ text: String) throws {
        try write(verbatim: Ink.printable(page: text, isColoured: wantsColour))
    }

    /// Writes JSON.
    ///
    /// Characters a terminal would interpret are escaped, which does not change the values.
    ///
    /// - Throws: ``CommandFailure``, as for text.
    func write(json: String) throws {
        try write(verbatim: Phrase.escaped(json: json))
    }

    private func write(verbatim text: String) throws {
        var text = text
        try text.withUTF8 { try write(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes as they are, for an output that is named as standard output.
    ///
    /// - Throws: ``CommandFailure``, as for text.
    func write(bytes: UnsafeRawBufferPointer) throws {
        let failure = UnfinishedFile.write(bytes, to: descriptor)
        guard failure != 0, descriptor != STDERR_FILENO else { return }
        if failure == EPIPE { exit(0) }
        throw CommandFailure.tool(
            "Writing to \(name) failed (\(String(cString: strerror(failure)))); free some space, or write elsewhere.")
    }

    /// Writes a message to standard error, on one line with the command's name.
    static func tell(_ sentence: String) {
        ProgressBar.makeRoom()
        try? errors.write("faultline: \(Phrase.printable(sentence))\n")
    }
}
