/// A change of the fetch at one line of a program: `List.swift:42 batch=15 prefetch=location`.
public struct FetchAdvice: Sendable, Hashable, CustomStringConvertible {
    /// The file's name, with as much of the path in front of it as is needed to tell it from others: `"List.swift"`,
    /// `"App/List.swift"`.
    public var file: String
    public var line: Int
    public var change: FetchChange

    public init(file: String, line: Int, change: FetchChange) {
        self.file = file
        self.line = line
        self.change = change
    }

    /// The advice as ``init(_:)`` reads it.
    public var description: String { "\(place) \(change)" }

    /// The line: `List.swift:42`.
    public var place: String { "\(file):\(line)" }

    /// Reads a line, and behind a space what is to change there.
    ///
    /// - Throws: ``FetchChange/Problem`` if there is no line, or no change.
    public init(_ text: String) throws(FetchChange.Problem) {
        let parts = text.split(maxSplits: 1, whereSeparator: { $0.isWhitespace }).map(String.init)
        guard let place = parts.first, let colon = place.lastIndex(of: ":"), colon > place.startIndex,
            let line = Int(place[place.index(after: colon)...]), line > 0
        else { throw FetchChange.Problem(description: "names no line, such as List.swift:42") }
        self.init(
            file: String(place[..<colon]), line: line, change: try FetchChange(parts.count > 1 ? parts[1] : ""))
    }

    /// Whether a file and line are those that are meant.
    ///
    /// - Parameter path: A path, or what `#fileID` says.
    public func isFor(_ path: String, line: Int) -> Bool {
        line == self.line && (path == file || path.hasSuffix("/" + file))
    }
}
