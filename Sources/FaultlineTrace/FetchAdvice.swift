/// A change to the fetch at one line of a program: `List.swift:42 batch=15 prefetch=location`.
public struct FetchAdvice: Sendable, Hashable, CustomStringConvertible {
    /// The file's name, preceded by as much of its path as makes it unique: `"List.swift"`, `"App/List.swift"`.
    public var file: String
    /// The line of the fetch.
    public var line: Int
    /// The change to try.
    public var change: FetchChange

    /// Creates advice for the fetch at a line.
    public init(file: String, line: Int, change: FetchChange) {
        self.file = file
        self.line = line
        self.change = change
    }

    /// The advice, in the form that ``init(_:)`` parses.
    public var description: String { "\(location) \(change)" }

    /// The line: `List.swift:42`.
    public var location: String { "\(file):\(line)" }

    /// Parses a line of the program, followed by a space and the change.
    ///
    /// - Throws: ``FetchChange/Problem`` if there is no line, or no change.
    public init(_ text: String) throws(FetchChange.Problem) {
        let parts = text.split(maxSplits: 1, whereSeparator: { $0.isWhitespace }).map(String.init)
        guard let location = parts.first, let colon = location.lastIndex(of: ":"), colon > location.startIndex,
            let line = Int(location[location.index(after: colon)...]), line > 0
        else { throw FetchChange.Problem(description: "does not begin with a line such as List.swift:42") }
        self.init(
            file: String(location[..<colon]), line: line, change: try FetchChange(parts.count > 1 ? parts[1] : ""))
    }

    /// Whether the advice is for a file and line.
    ///
    /// - Parameter path: A path, or a `#fileID`.
    public func isFor(_ path: String, line: Int) -> Bool {
        line == self.line && (path == file || path.hasSuffix("/" + file))
    }
}
