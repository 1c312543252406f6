import Glibc

/// A format that traces come in, found from a file's first bytes and never from its name.
public enum TraceFormat: Sendable, Hashable, CaseIterable {
    /// A JSON timeline: Chrome's Trace Event format in its array form, one event a line.
    case timeline
    /// Directories of the Common Trace Format 1.8, as LTTng writes them.
    case ctf
    /// The XML that `xctrace export` makes of the Core Data tables of Instruments.
    case xctrace
    /// What Core Data logged for `-com.apple.CoreData.SQLDebug`, mixed with other output.
    case sqlDebug

    /// How many of a file's first bytes are looked at.
    static let headLength = 4096

    /// The format of the file that begins with these bytes.
    ///
    /// - Throws: ``ReaderError`` if it is none of ours. A file that begins as JSON does passes for a timeline; whether
    ///   it is one of Faultline's is known when it has been read.
    static func detect(_ head: [UInt8], path: String) throws(ReaderError) -> TraceFormat {
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        guard let first = text.first(where: { !isSpace($0) }) else { throw .empty(path) }
        // Other output can begin with a bracket too, and go on with Core Data's log.
        let second = text.drop { isSpace($0) }.dropFirst().first { !isSpace($0) }
        let isJSON = first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        if first == UInt8(ascii: "["), second == UInt8(ascii: "{") || second == nil {
            // "log show --style json" prints an array of objects too.
            var isLog = LogObject.hasKeys(String(decoding: head, as: UTF8.self))
            if isLog { isLog = try SQLDebugReader.isLog(path) }
            return isLog ? .sqlDebug : .timeline
        }
        if first == UInt8(ascii: "<"), String(decoding: head, as: UTF8.self).contains("<trace-query-result") {
            return .xctrace
        }
        let advice = "name a file that \"faultline record\" wrote"
        let wholeTrace = "name the directory that the trace lies in"
        for (magic, name, advice) in [
            (Array("SQLite format 3\0".utf8), "an SQLite database", advice),
            ([0x7F, 0x45, 0x4C, 0x46], "a program or library", advice),
            ([0x1F, 0x8B], "a gzip archive", "unpack it first"),
            ([0x28, 0xB5, 0x2F, 0xFD], "a zstd archive", "unpack it first"),
            ([0x50, 0x4B, 0x03, 0x04], "a zip archive", "unpack it first"),
            (Array("/* CTF".utf8), "the metadata of a CTF trace", wholeTrace),
            ([0x57, 0x1D, 0xD1, 0x75], "the metadata of a CTF trace", wholeTrace),
            ([0xC1, 0x1F, 0xFC, 0xC1], "a stream of a CTF trace", wholeTrace),
        ] where head.starts(with: magic) {
            throw .notATrace(path, looksLike: name, advice: advice)
        }
        if try SQLDebugReader.isLog(path) { return .sqlDebug }
        if isJSON { return .timeline }
        if first == UInt8(ascii: "<") {
            throw .notATrace(path, looksLike: "an XML or HTML document", advice: advice)
        }
        let isText = head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || isSpace($0) }
        throw .notATrace(path, looksLike: isText ? "plain text" : "binary data", advice: advice)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
