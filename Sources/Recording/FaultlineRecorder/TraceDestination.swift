internal import Foundation

/// The destination of a recording.
public enum TraceDestination: Sendable, Hashable {
    /// A JSON timeline at a path, written by a thread of the program.
    case timeline(path: String)
    /// Only the mapped file, in a directory from which another process drains it, as with `faultline record`.
    case rings(directory: String)
    /// LTTng's tracepoints of the providers `faultline`, `faultline_dictionary` and `faultline_statedump`.
    ///
    /// They fire on the thread that did the work, for all active sessions.
    ///
    /// Needs the package's trait `LTTng`, which is on by default.
    case lttng

    /// Parses `timeline:PATH`, `rings:DIRECTORY` or `lttng`; `%p` in a path stands for the process ID.
    ///
    /// - Throws: ``RecorderError`` for any other text.
    public init(_ text: String) throws {
        if text == "lttng" {
            self = .lttng
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { throw RecorderError.badDestination(text) }
        let path = parts[1].replacingOccurrences(of: "%p", with: String(getpid()))
        switch parts[0] {
        case "timeline": self = .timeline(path: path)
        case "rings": self = .rings(directory: path)
        default: throw RecorderError.badDestination(text)
        }
    }

    /// Parses a list of destinations: one, or a file and `lttng` separated by a comma.
    ///
    /// A path may itself contain commas.
    ///
    /// - Throws: ``RecorderError`` for any other text.
    static func list(_ text: String) throws -> [TraceDestination] {
        let (separated, lttng) = (",", "lttng")
        if text.hasSuffix(separated + lttng) {
            return [try TraceDestination(String(text.dropLast(separated.count + lttng.count))), .lttng]
        }
        if text.hasPrefix(lttng + separated) {
            return [try TraceDestination(String(text.dropFirst(lttng.count + separated.count))), .lttng]
        }
        return [try TraceDestination(text)]
    }
}
