internal import CRecorder
internal import Foundation

/// Messages to the user of the recorded program.
package enum StandardError {
    /// Writes a text to stderr, or as much of it as stderr accepts.
    ///
    /// Never ends the program, even if stderr is closed, its disk is full, or it is a pipe without a reader.
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { fl_write_quietly(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }
}
