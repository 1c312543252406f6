public import FaultlineTrace

/// Reads a trace, whatever its format, as a stream of messages.
///
///     let reader = try TraceReader(path: "timeline.json")
///     let summary = try reader.read { message in
///         if case .event(let event) = message { print(event.kind) }
///     }
///
/// The file is read twice: first for all that began and the whole dictionary, then for events, losses and ends. So whoever
/// reads knows every name, and every stack's symbols, before the first event, although the writer learned them later.
public struct TraceReader: Sendable {
    /// What the file is called that holds the symbols of a CTF trace, in the trace's directory.
    package static let symbolsName = ".faultline-symbols.json"

    /// The path of the file or directory, as it was given.
    public let path: String
    private let source: any TraceSource.Type

    /// Opens a trace and finds its format from its content.
    ///
    /// - Throws: ``ReaderError`` if the file is missing, not readable, no regular file, empty, or clearly no trace, or a
    ///   directory without a CTF trace of Faultline. That JSON is somebody else's shows only in ``read(_:)``.
    public init(path: String) throws(ReaderError) {
        self.path = path
        source = try TraceSources.source(of: TraceFile(path: path))
    }

    /// The format's name: `"timeline"`, `"ctf"`, `"xctrace"` or `"sqlDebug"`.
    public var format: String { source.name }

    /// What can be done with the trace besides reading it.
    package var abilities: TraceAbilities { source.abilities }

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
        try source.init(path: path).read(body)
    }

    /// Reads what began, and the dictionary, and leaves the events for later.
    ///
    /// - Throws: as ``read(_:)``, but not for a trace in which nothing began.
    package func begin() throws -> TraceReading {
        // Taken before the names are read, so that lines added meanwhile are noticed.
        let stamp = abilities.contains(.recovery) ? FileStamp(path) : nil
        return try TraceReading(source.init(path: path), path: path, stamp: stamp)
    }

    /// The path of the timeline to which additions are written.
    var pathOfAdditions: String { source.pathOfAdditions(to: path) }
}
