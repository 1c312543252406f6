import FaultlineTrace

/// The statements in the log of Rails, at level debug, with any prefix.
///
///     Started GET "/posts/3" for ::1 at 2026-10-30 18:05:37 +0530
///     Processing by PostsController#show as HTML
///       Post Load (0.3ms)  SELECT "posts".* FROM "posts" WHERE "posts"."id" = ? LIMIT ?  [["id", 3], ["LIMIT", 1]]
///       ↳ app/controllers/posts_controller.rb:12:in 'PostsController#show'
///     Completed 200 OK in 19ms (Views: 14.2ms | ActiveRecord: 1.1ms (3 queries, 0 cached))
struct RailsLog: StatementLog {
    static let name = "rails"
    static let source = ProcessBegan.Source.rails
    static let foreignFiles: String? = "the log of Rails"
    static let language = "Ruby"

    /// A statement that may continue.
    private struct Open {
        var text: OpenStatement
        var logged: LoggedStatement
        /// Whether Rails answered it from its cache.
        var isCached: Bool
    }

    private var open: Open?
    /// A complete statement, whose line of code may follow.
    private var done: LoggedStatement?
    private var whole: [LoggedStatement] = []
    private var request: LoggedRequest?
    private var requests = 0

    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) {
        let bytes = line.assumingMemoryBound(to: UInt8.self)
        if let mark = Mark(bytes) { return begin(mark, bytes) }
        if let site = Self.site(bytes) {
            complete()
            done?.site = site
            return flush()
        }
        if open?.text.take(line) == true { return }
        complete()
        takeRequest(bytes)
    }

    mutating func finish() -> Bool {
        complete()
        flush()
        return false
    }

    mutating func takeStatements() -> [LoggedStatement] { whole.takeAll() }

    static func gaps(of contents: LogContents) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.operations), .init(.rows), .init(.threads), .init(.counters), .init(.waits), .init(.plans),
            .init(.exactTimes),
        ]
        if !contents.hasSites {
            gaps.append(.init(.callSites, remedy: "config.active_record.verbose_query_logs = true"))
        }
        if !contents.hasExactTimes {
            gaps.append(.init(.startTimes, remedy: "config.log_formatter = Logger::Formatter.new"))
        }
        return gaps
    }

    static func mayBe(_ head: UnsafeBufferPointer<UInt8>) -> Bool { head.position(of: "ms)") != nil }

    // MARK: - Statements

    private mutating func begin(_ mark: Mark, _ line: UnsafeBufferPointer<UInt8>) {
        complete()
        flush()
        let prefix = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: line[..<mark.name.lowerBound]))
        let logged = LoggedStatement(
            sql: "", type: .read, duration: mark.duration, time: LogTime(in: prefix),
            process: Self.process(in: line, before: mark.name.lowerBound) ?? 1, request: request)
        let isCached = line.hasBytes("CACHE", at: mark.name.lowerBound)
        open = Open(text: OpenStatement(line[mark.text...]), logged: logged, isCached: isCached)
    }

    /// Ends the open statement.
    private mutating func complete() {
        guard let open else { return }
        self.open = nil
        let text = open.text.bytes
        let statement = NormalizedStatement(Array(text[..<Self.end(ofStatement: text)]))
        guard !open.isCached, !statement.isEmpty else { return }
        var logged = open.logged
        (logged.sql, logged.type) = (statement.sql, statement.type)
        // Values are in the statement or behind it.
        logged.values = StableHash.text(open.text.text)
        flush()
        done = logged
    }

    private mutating func flush() {
        if let done { whole.append(done) }
        done = nil
    }

    /// The offset of the values behind a statement: `  [["id", 3], ["LIMIT", 1]]`.
    private static func end(ofStatement text: [UInt8]) -> Int {
        text.withUnsafeBufferPointer { bytes in
            guard bytes.count > 3, bytes.last == UInt8(ascii: "]"), bytes[bytes.count - 2] == UInt8(ascii: "]") else {
                return bytes.count
            }
            var (end, position) = (bytes.count, 0)
            while let found = bytes.position(of: "  [[", from: position) { (end, position) = (found, found + 1) }
            return end
        }
    }

    // MARK: - Lines

    /// The beginning of a statement's line: `  Post Load (0.3ms)  SELECT`.
    private struct Mark {
        /// The model and the operation, such as `Post Load` or `TRANSACTION`; empty for unnamed statements.
        var name: Range<Int>
        /// In nanoseconds.
        var duration: UInt64
        /// The offset of the statement.
        var text: Int

        /// The maximum length of a prefix with a name in bytes.
        private static let maximumPrefix = 512

        init?(_ line: UnsafeBufferPointer<UInt8>) {
            guard let end = line.position(of: "ms)"), end < Self.maximumPrefix else { return nil }
            let start = (line[..<end].lastIndex { !$0.isDigit && $0 != UInt8(ascii: ".") } ?? -1) + 1
            guard start > 1, line[start - 1] == UInt8(ascii: "("), line[start - 2] == 0x20, start < end,
                let milliseconds = line.decimal(at: start), milliseconds.end == end, milliseconds.value < 1e9
            else { return nil }
            text = line.end(of: { $0 == 0x20 }, from: end + 3)
            let first = line.end(of: { $0 == UInt8(ascii: "(") || $0.isSpace }, from: text)
            let verb = line[first...].prefix { SQLLexer.continuesWord($0) }
            guard text > end + 3, SQLVerb.isVerb(verb) || line.hasBytes("/*", at: first) else { return nil }
            duration = UInt64((milliseconds.value * 1e6).rounded())
            // Two spaces precede the name.
            var begin = start - 2
            while begin > 1, line[begin - 1] != 0x20 || line[begin - 2] != 0x20 { begin -= 1 }
            if begin == 1, line[0] != 0x20 { begin = 0 }
            name = begin..<(start - 2)
            // "ActsAsTaggableOn::Tag Load", "User Exists?": the text of other lines has other characters.
            guard line[name].allSatisfy({ SQLLexer.continuesWord($0) || ": ?!/".utf8.contains($0) }) else { return nil }
        }
    }

    /// The line of the program below a statement: `↳ app/models/post.rb:12:in 'Post#author'`.
    private static func site(_ line: UnsafeBufferPointer<UInt8>) -> CallSite? {
        guard let start = line.position(behind: "↳ "), start < 512 else { return nil }
        let text = String(decoding: line[start...], as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, let number = Int(parts[1]) else { return nil }
        let function = parts.count > 2 ? parts[2].trimmingPrefix("in ").filter { !"`'".contains($0) } : ""
        return CallSite(file: String(parts[0]), line: number, function: function)
    }

    /// The process in `D, [2026-07-28T19:30:05.292731 #331175] DEBUG -- :`.
    private static func process(in line: UnsafeBufferPointer<UInt8>, before end: Int) -> UInt32? {
        guard let start = line.position(behind: " #"), start < end, let number = line.number(at: start),
            line.hasBytes("]", at: number.end)
        else { return nil }
        return UInt32(exactly: number.value)
    }

    private mutating func takeRequest(_ line: UnsafeBufferPointer<UInt8>) {
        if let start = line.position(behind: "Started ") ?? line.position(behind: "Performing "),
            let end = line.position(of: " for ", from: start) ?? line.position(of: " (", from: start)
        {
            flush()
            requests += 1
            let name = String(decoding: line[start..<end].lazy.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
            // Values of a query are the program's.
            request = LoggedRequest(number: requests, name: String(name.prefix { $0 != "?" }))
        } else if let start = line.position(behind: "Processing by ") {
            let name = String(decoding: line[line.word(from: start)], as: UTF8.self)
            if request == nil { requests += 1 }
            request = LoggedRequest(number: requests, name: name)
        } else if line.position(of: "Completed ") != nil || line.position(of: "Performed ") != nil {
            flush()
            request = nil
        }
    }
}
