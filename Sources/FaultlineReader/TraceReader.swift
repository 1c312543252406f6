public import FaultlineTrace
import Glibc

/// Reads a trace, whatever its format, as a stream of messages.
///
///     let reader = try TraceReader(path: "timeline.json")
///     let summary = try reader.read { message in
///         if case .event(let event) = message { profile.add(event) }
///     }
///
/// The file is gone through twice: first for all that began and the whole dictionary, then for events, losses and
/// ends. So whoever reads knows every name, and every stack's symbols, before the first event, although the writer
/// learned them later.
public struct TraceReader: Sendable {
    /// What the file is called that holds the symbols of a CTF trace, in the trace's directory.
    package static let symbolsName = ".faultline-symbols.json"

    /// The path of the file or directory, as it was given.
    public let path: String
    /// The format that was found.
    public let format: TraceFormat

    /// Opens a trace and finds its format from its content.
    ///
    /// - Throws: ``ReaderError`` if the file is missing, not readable, no regular file, empty, or clearly no trace, or a
    ///   directory without a CTF trace of Faultline. That JSON is somebody else's shows only in ``read(_:)``.
    public init(path: String) throws(ReaderError) {
        self.path = path
        if CTFTrace.isDirectory(path) {
            _ = try CTFTrace(path: path)
            format = .ctf
            return
        }
        let head = try LineReader.head(of: path, length: TraceFormat.headLength)
        if head.isEmpty { throw .empty(path) }
        format = try TraceFormat.detect(head, path: path)
    }

    /// Hands every message of the trace to `body`.
    ///
    /// Lines, events and packets that are malformed or somebody else's are left out and counted; a file that breaks off
    /// is normal (the program was killed) and told in the summary.
    ///
    /// - Returns: How much was read, and what could not be used.
    /// - Throws: ``ReaderError`` if nothing in the file is Faultline's, if the trace is of a newer version, or if the
    ///   file system fails; not for damaged lines. What `body` throws ends the reading and is thrown on.
    /// - Complexity: O(file). Memory is a megabyte or the longest line (at most 16 MiB), whatever the file's length; for a
    ///   CTF trace that of libbabeltrace2, some megabytes a stream.
    @discardableResult
    public func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        switch format {
        case .timeline: try TimelineReader(path: path).read(body)
        case .ctf: try CTFReader(path: path).read(body)
        case .xctrace: try XctraceReader(path: path).read(body)
        case .sqlDebug: try SQLDebugReader(path: path).read(body)
        }
    }

    /// Hands what began, and the dictionary, to `body`.
    ///
    /// - Throws: as ``read(_:)``; for a timeline that is somebody else's only if `isStrict`.
    package func readNames(isStrict: Bool = false, _ body: (TraceMessage) throws -> Void) throws {
        switch format {
        case .timeline:
            var isOurs = false
            try TimelineReader(path: path).readNames { message in
                isOurs = true
                try body(message)
            }
            if isStrict, !isOurs { throw ReaderError.foreignJSON(path) }
        case .ctf: try CTFReader(path: path).readNames(body)
        case .xctrace, .sqlDebug: break
        }
    }

    /// The timeline that takes the symbols of the trace's stacks; what other tools wrote has those that there are.
    var pathOfSymbols: String {
        switch format {
        case .timeline, .xctrace, .sqlDebug: path
        case .ctf: CTFReader.symbols(of: path)
        }
    }
}
