import CTraceSchema
package import FaultlineTrace
import Foundation

/// Adds to a finished trace what is learned about it later: symbols, and the cost of a trip on its machine.
///
/// Additions go to a timeline's end, or into a file of its own in the directory of a CTF trace. What a trace has stays as it is; if
/// writing fails, it has as much as before.
package struct TraceAnnotator {
    private let trace: String
    /// The timeline that takes the lines.
    private let target: String

    package init(_ trace: TraceReader) {
        self.trace = trace.path
        target = trace.pathOfAdditions
    }

    /// Writes an entry of the dictionary beside what the trace has.
    ///
    /// - Parameter process: Whose entry it is.
    /// - Throws: ``ReaderError`` if the trace cannot be written, or is still written to; it speaks of symbols.
    package func add(_ entry: DictionaryEntry, id: DictionaryID = 1, process: UInt32) throws {
        try append([Self.line(for: entry, id: id, process: process)])
    }

    /// Writes frames beside what the trace has.
    ///
    /// - Returns: The trace as it is then.
    /// - Throws: as ``add(_:id:process:)``.
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

    /// An entry as a timeline has it.
    ///
    /// `{"name":"faultline.frame","ph":"M","pid":4,"tid":0,"args":{"id":1,"entry":{"address":"0x5581",…}}}`
    private static func line(for entry: DictionaryEntry, id: DictionaryID, process: UInt32) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let value = String(decoding: try encoder.encode(entry.value), as: UTF8.self)
        let name = "faultline." + String(cString: fl_dictionary_name(entry.kind.rawValue))
        return #"{"name":"\#(name)","ph":"M","pid":\#(process),"tid":0,"args":{"id":\#(id),"entry":\#(value)}}"#
    }

    /// Makes an empty timeline where none is.
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
