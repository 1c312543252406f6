internal import CRecorder
internal import Foundation

/// Sentences for the user of a program that is not ours.
package enum StandardError {
    /// Writes a text to stderr, or as much of it as stderr takes.
    ///
    /// Never ends the program: not if stderr is closed or its disk full, and not by a signal if it is a pipe that nobody
    /// reads.
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { fl_write_quietly(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }
}
