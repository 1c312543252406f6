package import FaultlineTrace

/// A format that traces come in, found from a file's content and never from its name.
///
/// What a trace of the format cannot tell its reader says in ``ProcessBegan/gaps``; what can be done with the trace is
/// among its ``abilities``. Nothing else has to know which tool wrote a trace.
package protocol TraceSource: SendableMetatype {
    /// The format's name: `"timeline"`.
    static var name: String { get }

    static var abilities: TraceAbilities { get }

    /// Whether a file is of the format.
    ///
    /// - Throws: ``ReaderError`` if the file cannot be read, or is damaged beyond use.
    static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition

    /// - Parameter path: Of a file that was recognized.
    init(path: String) throws(ReaderError)

    /// Hands what began, and the dictionary, to `body`; of a format whose names nobody adds to, nothing.
    ///
    /// Called once, before ``readEvents(_:)``.
    func readNames(_ body: (TraceMessage) throws -> Void) throws

    /// Hands every other message of the trace to `body`; see ``TraceReader/read(_:)``.
    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary

    /// The path of the timeline to which additions to a finished trace are written.
    static func pathOfAdditions(to path: String) -> String
}

extension TraceSource {
    package static var abilities: TraceAbilities { [] }
    package func readNames(_ body: (TraceMessage) throws -> Void) throws {}
    package static func pathOfAdditions(to path: String) -> String { path }

    /// Hands every message of the trace to `body`: the names, and then the events.
    func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        try readNames(body)
        return try readEvents(body)
    }
}

/// What can be done with traces of a format.
package struct TraceAbilities: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What a killed program left in its rings can be added.
    package static let recovery = TraceAbilities(rawValue: 1)
    /// Addresses in its stacks can be resolved, and the names kept with it.
    package static let symbols = TraceAbilities(rawValue: 2)
    /// Its events can be read on another thread than the one that takes them.
    package static let readingAhead = TraceAbilities(rawValue: 4)
}

/// How sure it is that a file is of a format.
package enum TraceRecognition: Sendable, Comparable {
    case no
    /// It may be, if it is nothing else.
    case possible
    case certain
}

/// A file, or a directory, of which the format is asked.
package struct TraceFile: Sendable {
    package let path: String
    package let isDirectory: Bool
    /// The first bytes; empty for a directory.
    package let head: [UInt8]

    /// How many of a file's first bytes are looked at.
    static let headLength = 4096

    init(path: String) throws(ReaderError) {
        self.path = path
        isDirectory = CTFTrace.isDirectory(path)
        head = isDirectory ? [] : try LineReader.head(of: path, length: Self.headLength)
    }

    /// The first bytes as text.
    var text: String { String(decoding: head, as: UTF8.self) }

    /// The first two characters that are no white space.
    var firstCharacters: (first: UInt8?, second: UInt8?) {
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        let rest = text.drop(while: Self.isSpace)
        return (rest.first, rest.dropFirst().first { !Self.isSpace($0) })
    }

    /// Whether it begins as an array of JSON objects does.
    var beginsAsArray: Bool {
        let (first, second) = firstCharacters
        // Other output can begin with a bracket too, and go on with Core Data's log.
        return first == UInt8(ascii: "[") && (second == UInt8(ascii: "{") || second == nil)
    }

    /// Whether all of the first bytes are those of a text.
    var isText: Bool { head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || Self.isSpace($0) } }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
