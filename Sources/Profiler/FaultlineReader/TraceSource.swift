package import FaultlineTrace

/// A trace format, detected from a file's content and never from its name.
///
/// A source lists the data that its format lacks in ``ProcessBegan/gaps``, and the operations that its traces support
/// in ``capabilities``. Nothing else has to know which tool wrote a trace.
package protocol TraceSource: SendableMetatype {
    /// The format's name: `"timeline"`.
    static var name: String { get }

    static var capabilities: TraceCapabilities { get }

    /// The files of other tools that the source reads, as part of a list; `nil` if Faultline writes them.
    static var foreignFiles: String? { get }

    /// Decides whether a file is of the format.
    ///
    /// - Throws: ``ReaderError`` if the file cannot be read, or is damaged beyond use.
    static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition

    /// - Parameter path: The path of a file that was recognized.
    init(path: String) throws(ReaderError)

    /// Passes the beginnings of processes and the dictionary to `body`; nothing for a format whose names cannot be
    /// added to.
    ///
    /// Called once, before ``readEvents(_:)``.
    func readNames(_ body: (TraceMessage) throws -> Void) throws

    /// Passes every other message of the trace to `body`; see ``TraceReader/read(_:)``.
    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary

    /// The path of the timeline to which additions to a finished trace are written.
    static func pathOfAdditions(to path: String) -> String
}

extension TraceSource {
    package static var capabilities: TraceCapabilities { [] }
    package static var foreignFiles: String? { nil }
    package func readNames(_ body: (TraceMessage) throws -> Void) throws {}
    package static func pathOfAdditions(to path: String) -> String { path }

    /// Passes every message of the trace to `body`: the names, and then the events.
    func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        try readNames(body)
        return try readEvents(body)
    }
}

/// The operations that traces of a format support.
package struct TraceCapabilities: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Events that a killed program left in its rings can be added.
    package static let recovery = TraceCapabilities(rawValue: 1)
    /// Addresses in its stacks can be resolved, and the symbols stored with it.
    package static let symbols = TraceCapabilities(rawValue: 2)
    /// Its events can be read on another thread than the consumer's.
    package static let readingAhead = TraceCapabilities(rawValue: 4)
}

/// The certainty that a file is of a format.
package enum TraceRecognition: Sendable, Comparable {
    case no
    /// The file is of the format unless another one matches.
    case possible
    case certain
}

/// A file or directory whose format is to be detected.
package struct TraceFile: Sendable {
    package let path: String
    package let isDirectory: Bool
    /// The first bytes; empty for a directory.
    package let head: [UInt8]

    /// The number of a file's first bytes that are examined.
    static let headLength = 4096

    init(path: String) throws(ReaderError) {
        self.path = path
        isDirectory = CTFTrace.isDirectory(path)
        head = isDirectory ? [] : try LineReader.head(of: path, length: Self.headLength)
    }

    /// The first bytes as text.
    var text: String { String(decoding: head, as: UTF8.self) }

    /// The first two characters that are not white space.
    var firstCharacters: (first: UInt8?, second: UInt8?) {
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        let rest = text.drop(while: \.isSpace)
        return (rest.first, rest.dropFirst().first { !$0.isSpace })
    }

    /// Whether the file begins like an array of JSON objects.
    var beginsAsArray: Bool {
        let (first, second) = firstCharacters
        // Other output can also begin with a bracket, and continue with Core Data's log.
        return first == UInt8(ascii: "[") && (second == UInt8(ascii: "{") || second == nil)
    }

    /// Whether the first bytes are all text.
    var isText: Bool { head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0.isSpace } }
}
