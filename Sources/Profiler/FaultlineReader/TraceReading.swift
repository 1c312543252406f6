package import FaultlineTrace

/// A trace whose names have been read and whose events have not.
///
/// Missing names can be added in between, whether or not they can be written to the trace.
package final class TraceReading {
    /// A message that precedes the events.
    private enum Name {
        case began(ProcessBegan)
        case entry(process: UInt32, id: DictionaryID, DictionaryEntry)
    }

    private let source: any TraceSource
    private let path: String
    /// The file before its names were read, or after the reader's last addition; `nil` for a format that nothing
    /// appends to.
    private var stamp: FileStamp?
    /// The names, in the trace's order.
    private var names: [Name] = []

    init(_ source: any TraceSource, path: String, stamp: FileStamp?) throws {
        self.source = source
        self.path = path
        self.stamp = stamp
        try source.readNames { message in
            switch message {
            case .began(let process): names.append(.began(process))
            case .entry(let process, let id, let entry): names.append(.entry(process: process, id: id, entry))
            case .event, .lost, .ended: break
            }
        }
    }

    /// The processes that began, in the trace's order; empty for a format that delivers them with the events.
    package var processes: [ProcessBegan] {
        names.compactMap { if case .began(let process) = $0 { process } else { nil } }
    }

    /// Whether another program has written to the trace since its names were read.
    package var isOutdated: Bool { stamp.map { $0 != FileStamp(path) } ?? false }

    /// Checks that the trace has names.
    ///
    /// - Throws: ``ReaderError`` if a file that looks like a timeline contains nothing of Faultline's; never for a
    ///   format that delivers its names with the events.
    package func expectNames() throws(ReaderError) {
        if names.isEmpty, type(of: source).capabilities.contains(.recovery) { throw .foreignJSON(path) }
    }

    /// Resolves the frames that the trace's stacks lack, adds them to the names, and writes them to the trace.
    ///
    /// - Parameter annotator: The writer; `nil` leaves the trace unchanged.
    /// - Returns: The number of frames that the trace lacked.
    /// - Throws: ``ReaderError`` if the frames cannot be written; they are added to the names all the same.
    @discardableResult
    package func resolve(with resolver: SymbolResolver, annotator: TraceAnnotator?) throws -> Int {
        var processes = ProcessFrames()
        for case .entry(let process, let id, let entry) in names { processes.take(entry, id: id, of: process) }
        let frames = resolver.missingFrames(of: processes)
        if frames.isEmpty { return 0 }
        names += frames.map { .entry(process: $0.process, id: $0.id, .frame($0.frame)) }
        if let annotator { stamp = try annotator.add(frames) }
        return frames.count
    }

    /// Passes every message of the trace to `body`: first the names, then the events.
    ///
    /// Call this once.
    ///
    /// - Throws: The errors of ``TraceReader/read(_:)``.
    package func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        for name in names {
            switch name {
            case .began(let process): try body(.began(process))
            case .entry(let process, let id, let entry): try body(.entry(process: process, id: id, entry))
            }
        }
        names = []
        let canReadAhead = type(of: source).capabilities.contains(.readingAhead)
        return canReadAhead ? try ReadAhead.readEvents(of: source, body) : try source.readEvents(body)
    }
}
