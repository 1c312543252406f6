/// A change to a fetch that can be tried without editing the program.
///
/// As text it is a list of words: `batch=15 limit=20 prefetch=location,shop.position properties=name,price ids`. A minus
/// in front of a key path removes it from the prefetched ones: `prefetch=-photo`.
public struct FetchChange: Sendable, Hashable {
    /// The batch size; 0 loads everything at once, `nil` leaves it unchanged.
    public var batchSize: UInt32?
    /// The fetch limit; 0 removes it, `nil` leaves it unchanged.
    public var limit: UInt32?
    /// Key paths to prefetch in addition to those of the request.
    public var prefetch: [String]
    /// Key paths that the fetch no longer prefetches.
    public var withoutPrefetch: [String]
    /// The properties to load with the rows; `nil` leaves them unchanged.
    public var properties: [String]?
    /// Whether the fetch loads only object IDs, which leaves each object a fault without a row.
    ///
    /// If ``batchSize`` is `nil`, this also turns batching off, because batches load rows.
    public var readsIdentitiesOnly: Bool

    /// Creates a change; without arguments, it changes nothing.
    public init(
        batchSize: UInt32? = nil, limit: UInt32? = nil, prefetch: [String] = [], withoutPrefetch: [String] = [],
        properties: [String]? = nil, readsIdentitiesOnly: Bool = false
    ) {
        self.batchSize = batchSize
        self.limit = limit
        self.prefetch = prefetch
        self.withoutPrefetch = withoutPrefetch
        self.properties = properties
        self.readsIdentitiesOnly = readsIdentitiesOnly
    }

    /// Returns the key paths that the fetch prefetches with the change, the request's own first.
    package func prefetched(_ paths: [String]) -> [String] {
        let kept = paths.filter { !withoutPrefetch.contains($0) }
        return kept + prefetch.filter { !kept.contains($0) }
    }
}

extension FetchChange: CustomStringConvertible {
    /// The words, in the form that ``init(_:)`` parses.
    public var description: String {
        let paths = prefetch + withoutPrefetch.map { "-" + $0 }
        let words = [
            batchSize.map { "batch=\($0)" }, limit.map { "limit=\($0)" },
            paths.isEmpty ? nil : "prefetch=" + paths.joined(separator: ","),
            properties.map { "properties=" + $0.joined(separator: ",") }, readsIdentitiesOnly ? "ids" : nil,
        ]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// The reason why a text is not a change.
    public struct Problem: Error, Hashable, CustomStringConvertible {
        /// The word and its problem, worded to follow the text: `has "batch=many", which is not a number …`.
        public let description: String
    }

    /// Parses the words of a change.
    ///
    /// - Throws: ``Problem`` if there are no words, or one is unknown, repeated or without a value.
    public init(_ text: String) throws(Problem) {
        self.init()
        var seen: Set<String> = []
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else {
            throw Problem(description: "contains no change, such as batch=15 or prefetch=location")
        }
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard seen.insert(parts[0]).inserted else { throw Problem(description: "contains \"\(parts[0])\" twice") }
            try take(parts[0], parts.count > 1 ? parts[1] : nil, of: word)
        }
    }

    /// Returns both changes of one fetch combined; where they differ, `other` wins.
    package func merging(_ other: FetchChange) -> FetchChange {
        FetchChange(
            batchSize: other.batchSize ?? batchSize, limit: other.limit ?? limit,
            prefetch: prefetch.filter { !other.prefetch.contains($0) && !other.withoutPrefetch.contains($0) }
                + other.prefetch,
            withoutPrefetch: withoutPrefetch.filter {
                !other.withoutPrefetch.contains($0) && !other.prefetch.contains($0)
            }
                + other.withoutPrefetch,
            properties: other.properties ?? properties,
            readsIdentitiesOnly: readsIdentitiesOnly || other.readsIdentitiesOnly)
    }

    private mutating func take(_ name: String, _ value: String?, of word: String) throws(Problem) {
        switch name {
        case "batch": batchSize = try Self.number(value, of: word)
        case "limit": limit = try Self.number(value, of: word)
        case "prefetch":
            let paths = try Self.names(value, of: word)
            prefetch = paths.filter { !$0.hasPrefix("-") }
            withoutPrefetch = paths.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) }
        case "properties": properties = try Self.names(value, of: word)
        case "ids" where value == nil: readsIdentitiesOnly = true
        default:
            throw Problem(
                description: "has \"\(word)\", which is not one of batch=, limit=, prefetch=, properties= or ids")
        }
    }

    private static func number(_ value: String?, of word: String) throws(Problem) -> UInt32 {
        guard let value, value.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt32(value) else {
            throw Problem(description: "has \"\(word)\", which is not a number from 0 to \(UInt32.max)")
        }
        return number
    }

    private static func names(_ value: String?, of word: String) throws(Problem) -> [String] {
        let names = (value ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard names.allSatisfy({ !$0.isEmpty && $0 != "-" }) else {
            throw Problem(description: "has \"\(word)\", which is not a comma-separated list of key paths")
        }
        return names
    }
}

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
