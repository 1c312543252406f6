internal import Foundation

/// Where a recording goes.
public enum TraceDestination: Sendable, Hashable {
    /// A JSON timeline at a path. Written by a thread of the program.
    case timeline(path: String)
    /// The mapped file alone, in a directory where another process drains it: what `faultline record` asks for.
    case rings(directory: String)
    /// LTTng's tracepoints of the providers `faultline`, `faultline_dictionary` and `faultline_statedump`, fired on the
    /// thread that did the work, for whatever sessions there are.
    ///
    /// Needs the package's trait `LTTng`, which is on by default.
    case lttng

    /// The destination that `timeline:PATH`, `rings:DIRECTORY` or `lttng` names; `%p` in a path stands for the process's
    /// number.
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

    /// The destinations that a text names: one, or a file and `lttng` with a comma between.
    ///
    /// A path may have commas of its own.
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
