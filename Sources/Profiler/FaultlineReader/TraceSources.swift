/// The supported trace formats.
enum TraceSources {
    /// A new format is one line here.
    static let all: [any TraceSource.Type] = [
        CTFReader.self, XctraceReader.self, SQLDebugReader.self, DjangoReader.self,
        StatementLogReader<SQLAlchemyLog>.self, StatementLogReader<RailsLog>.self, StatementLogReader<GRDBLog>.self,
        TimelineReader.self,
    ]

    /// Detects the format of a file.
    ///
    /// - Throws: ``ReaderError`` if it is none of these. A file that begins like JSON is accepted as a timeline; only
    ///   reading it shows whether Faultline wrote it.
    static func source(of file: TraceFile) throws(ReaderError) -> any TraceSource.Type {
        if !file.isDirectory, file.firstCharacters.first == nil { throw .empty(file.path) }
        var possible: [any TraceSource.Type] = []
        for source in all {
            switch try source.recognition(of: file) {
            case .certain: return source
            case .possible: possible.append(source)
            case .no: break
            }
        }
        if let other = OtherFile(file) {
            throw .notATrace(file.path, looksLike: other.name, advice: other.advice)
        }
        guard let source = possible.first else {
            let isMarkup = file.firstCharacters.first == UInt8(ascii: "<")
            let name = isMarkup ? "an XML or HTML document" : file.isText ? "plain text" : "binary data"
            let others = all.compactMap { $0.foreignFiles }
            let list = others.dropLast().joined(separator: ", ") + " or " + (others.last ?? "")
            throw .notATrace(file.path, looksLike: name, advice: "\(OtherFile.advice), or \(list)")
        }
        return source
    }
}

/// A file of another kind, recognized by its first bytes.
private struct OtherFile {
    let name: String
    let advice: String

    static let advice = "name a file that \"faultline record\" wrote"

    init?(_ file: TraceFile) {
        let wholeTrace = "name the directory that contains the trace"
        let known: [(magic: [UInt8], name: String, advice: String)] = [
            (
                Array("SQLite format 3\0".utf8), "an SQLite database",
                Self.advice + "; \"faultline inspect\" examines a store"
            ),
            ([0x7F, 0x45, 0x4C, 0x46], "a program or library", Self.advice),
            ([0x1F, 0x8B], "a gzip archive", "unpack it first"),
            ([0x28, 0xB5, 0x2F, 0xFD], "a zstd archive", "unpack it first"),
            ([0x50, 0x4B, 0x03, 0x04], "a zip archive", "unpack it first"),
            (Array("/* CTF".utf8), "the metadata of a CTF trace", wholeTrace),
            ([0x57, 0x1D, 0xD1, 0x75], "the metadata of a CTF trace", wholeTrace),
            ([0xC1, 0x1F, 0xFC, 0xC1], "a stream of a CTF trace", wholeTrace),
        ]
        guard let found = known.first(where: { file.head.starts(with: $0.magic) }) else { return nil }
        (name, advice) = (found.name, found.advice)
    }
}
