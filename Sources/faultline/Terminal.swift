import Foundation

/// A stream that the command writes to, and what it is.
struct Terminal {
    let handle: FileHandle

    static let output = Terminal(handle: .standardOutput)
    static let errors = Terminal(handle: .standardError)

    /// Whether colours are wanted: on a terminal only, and not if `NO_COLOR` is set (https://no-color.org).
    var wantsColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
        return isatty(handle.fileDescriptor) != 0 && environment["TERM"] != "dumb"
    }

    /// How many columns a line may have: the terminal's, between 80 and 120; 100 where there is none.
    var width: Int {
        var size = winsize()
        guard ioctl(handle.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return min(max(Int(size.ws_col), 80), 120)
    }

    /// Writes text.
    ///
    /// A reader that has gone (`faultline events … | head`) ends the command without a word.
    func write(_ text: String) {
        do {
            try handle.write(contentsOf: Data(text.utf8))
        } catch {
            exit(0)
        }
    }
}
