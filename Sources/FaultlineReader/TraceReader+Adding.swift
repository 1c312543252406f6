import CTraceSchema
package import FaultlineTrace
import Foundation

extension TraceReader {
    /// Writes an entry of the dictionary beside what a finished trace has.
    ///
    /// As symbols are: to a timeline's end, or into a file of its own in the directory of a CTF trace. If that fails, the
    /// trace has as much as before.
    ///
    /// - Parameter process: Whose entry it is.
    /// - Throws: ``ReaderError`` if the trace cannot be written, or is still written to; it speaks of symbols.
    package func add(_ entry: DictionaryEntry, id: DictionaryID = 1, process: UInt32) throws {
        try append([line(for: entry, id: id, process: process)])
    }

    /// Puts lines behind what the timeline has that takes the trace's symbols.
    func append(_ lines: [String]) throws(ReaderError) {
        if pathOfSymbols != path { try begin(pathOfSymbols) }
        try TimelineTail.append(lines, to: pathOfSymbols, isBesideTrace: pathOfSymbols != path)
    }

    /// An entry as a timeline has it.
    ///
    /// `{"name":"faultline.frame","ph":"M","pid":4,"tid":0,"args":{"id":1,"entry":{"address":"0x5581",…}}}`
    func line(for entry: DictionaryEntry, id: DictionaryID, process: UInt32) throws -> String {
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
