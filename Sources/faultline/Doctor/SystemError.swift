import Foundation

/// Why the system refused something.
struct SystemError: Error, CustomStringConvertible {
    /// The error's number (`errno`).
    var code: Int32

    var description: String { String(cString: strerror(code)) }
}
