public import FaultlineTrace

/// Reads a trace, whatever its format, as a stream of messages.
///
///     let reader = try TraceReader(path: "timeline.json")
///     let summary = try reader.read { message in
///         if case .event(let event) = message { print(event.kind) }
///     }
///
/// The file is read twice: first for the beginnings of processes and the whole dictionary, then for events, losses and
/// ends. Every name and every stack's symbols are therefore known before the first event, although the writer learned
/// them later.
public struct TraceReader: Sendable {
    /// The name of the file that holds the symbols of a CTF trace, in the trace's directory.
    package static let symbolsName = ".faultline-symbols.json"

    /// The path of the file or directory, as it was given.
    package let path: String
    private let source: any TraceSource.Type

    /// Opens a trace and detects its format from its content.
    ///
    /// - Throws: ``ReaderError`` if the file is missing, unreadable, empty, not a regular file or clearly not a trace,
    ///   or if it is a directory without a CTF trace of Faultline. Only ``read(_:)`` detects JSON that Faultline did
    ///   not write.
    public init(path: String) throws(ReaderError) {
        self.path = path
        source = try TraceSources.source(of: TraceFile(path: path))
    }

    /// The format's name, such as `"timeline"`.
    package var format: String { source.name }

    /// The operations that the trace supports besides reading.
    package var capabilities: TraceCapabilities { source.capabilities }

    /// Passes every message of the trace to `body`.
    ///
    /// Lines, events and packets that are malformed or not Faultline's are skipped and counted. A file that is cut off
    /// is normal, because the program was killed; the summary reports it.
    ///
    /// - Returns: The counts of everything read and skipped.
    /// - Throws: ``ReaderError`` if the file contains nothing of Faultline's, if a newer version wrote the trace, or
    ///   if the file system fails, but not for damaged lines. An error from `body` ends the reading and is rethrown.
    /// - Complexity: O(file). Memory is a megabyte or the longest line (at most 16 MiB), whatever the file's length. A
    ///   CTF trace takes the memory of libbabeltrace2, some megabytes per stream.
    @discardableResult
    public func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        try source.init(path: path).read(body)
    }

    /// Reads the beginnings of processes and the dictionary, and leaves the events for later.
    ///
    /// - Throws: The errors of ``read(_:)``, except the one for a trace in which no process began.
    package func begin() throws -> TraceReading {
        // Taken before the names are read, to notice lines that are added meanwhile.
        let stamp = capabilities.contains(.recovery) ? FileStamp(path) : nil
        return try TraceReading(source.init(path: path), path: path, stamp: stamp)
    }

    /// The path of the timeline to which additions are written.
    var pathOfAdditions: String { source.pathOfAdditions(to: path) }
}
