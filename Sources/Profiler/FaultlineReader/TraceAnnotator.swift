import CTraceSchema
package import FaultlineTrace
import Foundation

/// Adds data to a finished trace that was learned later: symbols, and the cost of a trip on its machine.
///
/// Additions go to the end of a timeline, or into a separate file in the directory of a CTF trace. Existing contents
/// stay unchanged; if writing fails, the trace is as it was before.
package struct TraceAnnotator {
    private let trace: String
    /// The timeline that the lines are added to.
    private let target: String

    package init(_ trace: TraceReader) {
        self.trace = trace.path
        target = trace.pathOfAdditions
    }

    /// Adds a dictionary entry to the trace.
    ///
    /// - Parameter process: The process that the entry belongs to.
    /// - Throws: ``ReaderError`` if the trace cannot be written, or is still being written; its message mentions
    ///   symbols.
    package func add(_ entry: DictionaryEntry, id: DictionaryID = 1, process: UInt32) throws {
        try append([Self.line(for: entry, id: id, process: process)])
    }

    /// Adds resolved frames to the trace.
    ///
    /// - Returns: The file's stamp after the addition; `nil` if the frames went into a file of their own.
    /// - Throws: The errors of ``add(_:id:process:)``.
    @discardableResult
    func add(_ frames: [ResolvedFrame]) throws -> FileStamp? {
        try append(frames.map { try Self.line(for: .frame($0.frame), id: $0.id, process: $0.process) })
    }

    @discardableResult
    private func append(_ lines: [String]) throws(ReaderError) -> FileStamp? {
        let isBesideTrace = target != trace
        if isBesideTrace { try begin(target) }
        let stamp = try TimelineTail.append(lines, to: target, isBesideTrace: isBesideTrace)
        return isBesideTrace ? nil : stamp
    }

    /// An entry as a line of a timeline.
    ///
    /// `{"name":"faultline.frame","ph":"M","pid":4,"tid":0,"args":{"id":1,"entry":{"address":"0x5581",…}}}`
    private static func line(for entry: DictionaryEntry, id: DictionaryID, process: UInt32) throws -> String {
        let value = String(decoding: try entry.json(), as: UTF8.self)
        let name = "faultline." + String(cString: fl_dictionary_name(entry.kind.rawValue))
        return #"{"name":"\#(name)","ph":"M","pid":\#(process),"tid":0,"args":{"id":\#(id),"entry":\#(value)}}"#
    }

    /// Creates an empty timeline unless the file exists.
    private func begin(_ path: String) throws(ReaderError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor < 0 {
            if errno == EEXIST { return }
            throw .cannotAddSymbols(path, errno)
        }
        defer { close(descriptor) }
        if write(descriptor, "[\n", 2) != 2 { throw .cannotAddSymbols(path, errno) }
    }
}
