import Foundation

/// An error of the operating system.
struct SystemError: Error, CustomStringConvertible {
    /// The error number (`errno`).
    var code: Int32

    var description: String { String(cString: strerror(code)) }
}
