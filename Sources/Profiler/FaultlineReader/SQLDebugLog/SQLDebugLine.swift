import FaultlineTrace

/// A parsed line that Core Data logged for `-com.apple.CoreData.SQLDebug`.
///
/// It is a class because its five texts would be retained with every copy.
final class SQLDebugLine {
    /// The process and thread that wrote a line, as far as its prefix names them.
    struct Writer: Hashable {
        var process: UInt32 = 0
        /// The thread in decimal or hexadecimal digits, as written; empty if it is not named.
        var thread: Substring = ""
    }

    /// The kind of message.
    enum Category: String {
        case sql, annotation, details
        /// Any other.
        case other

        /// - Returns: `nil` if a range is not a category of Core Data.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
            guard !range.isEmpty, bytes[range].allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
            let isNamed = { (name: StaticString) in
                range.count == name.utf8CodeUnitCount && bytes.hasBytes(name, at: range.lowerBound)
            }
            self = isNamed("sql") ? .sql : isNamed("annotation") ? .annotation : isNamed("details") ? .details : .other
        }
    }

    let category: Category
    var text: Substring
    var writer = Writer()
    /// The program's name; empty if it is not named.
    var program: Substring = ""
    /// The time in nanoseconds since the beginning of 2000; `nil` if the line has none.
    var time: UInt64?
    /// The line's number in the log.
    var number = 0

    /// The marks, one of which every line has; searching for them is faster than parsing the line.
    static let marks: [StaticString] = ["CoreData: ", "[com.apple.coredata:"]

    /// Parses a line; `nil` if Core Data did not write it.
    ///
    ///     CoreData: sql: SELECT …
    ///     2014-07-30 11:45:15.647 App[65858:2586192] CoreData: sql: SELECT …
    ///     2022-11-05 10:12:31.123456+0100 0x1f2e Debug 0x0 4711 0 App: (CoreData) [com.apple.coredata:sql] SELECT …
    ///     2022-11-05 10:12:31.123 Db App[4711:1f2e] [com.apple.coredata:sql] CoreData: sql: SELECT …
    convenience init?(_ line: Substring) {
        let found = line.withBytes { bytes -> (mark: Int, category: Category, text: Int)? in
            let marks = (bytes.position(of: Self.marks[0]), bytes.position(of: Self.marks[1]))
            guard let mark = marks.0.map({ min($0, marks.1 ?? $0) }) ?? marks.1 else { return nil }
            return Self.message(bytes, from: mark).map { (mark, $0.category, $0.text) }
        }
        guard let found else {
            guard let bare = line.withBytes(Self.bareMessage) else { return nil }
            self.init(bare.category, line[line.index(afterBytes: bare.text)...])
            return
        }
        self.init(found.category, line[line.index(afterBytes: found.text)...])
        let prefix = LogPrefix(line[..<line.index(afterBytes: found.mark)])
        (writer, program, time) = (prefix.writer, prefix.program, prefix.time)
    }

    /// The beginnings of the lines whose mark another tool, or a book, has left out.
    private static let bare: [(text: StaticString, category: Category)] = [
        ("sql: SELECT ", .sql), ("sql: INSERT ", .sql), ("sql: UPDATE ", .sql), ("sql: DELETE ", .sql),
        ("sql: BEGIN ", .sql), ("sql: COMMIT", .sql), ("sql: ROLLBACK", .sql), ("sql: pragma ", .sql),
        ("details: SQLite bind[", .details), ("details: SQLite: EXPLAIN QUERY PLAN ", .details),
        ("annotation: sql connection fetch time: ", .annotation), ("annotation: sql execution time: ", .annotation),
        ("annotation: total fetch execution time: ", .annotation),
        ("annotation: total count request execution time: ", .annotation),
        ("annotation: fetch using NSSQLiteStatement ", .annotation), ("annotation: count request <", .annotation),
        ("annotation: Bound intarray ", .annotation), ("annotation: Prefetching with key '", .annotation),
        ("annotation: fault fulfilled from ", .annotation), ("annotation: to-many relationship fault ", .annotation),
        ("annotation: (migration)", .annotation),
    ]

    /// Finds the category and the text of a line that begins like one of Core Data's without its mark.
    static func bareMessage(_ bytes: UnsafeBufferPointer<UInt8>) -> (category: Category, text: Int)? {
        let start = bytes.end(of: { $0 == 0x20 || $0 == 0x09 }, from: 0)
        guard start < bytes.count, "sda".utf8.contains(bytes[start]),
            let found = bare.first(where: { bytes.hasBytes($0.text, at: start) }),
            let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (found.category, bytes.end(of: { $0 == 0x20 }, from: colon + 1))
    }

    /// Parses a message without the prefix that the log adds.
    ///
    /// - Parameter category: The log's category; empty if the message contains its own.
    convenience init?(message: Substring, category: Substring = "") {
        let given = category.withBytes { Category($0, 0..<$0.count) }
        let found = message.withBytes { Self.message($0, from: 0, given: category.isEmpty ? nil : .some(given)) }
        guard let found else { return nil }
        self.init(found.category, message[message.index(afterBytes: found.text)...])
    }

    private init(_ category: Category, _ text: Substring) {
        (self.category, self.text) = (category, text)
    }

    /// Finds a message's category and text behind its marks.
    ///
    /// - Parameter given: The category without a mark; `.some(nil)` is one that Core Data does not have.
    private static func message(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, given: Category?? = nil
    ) -> (category: Category, text: Int)? {
        var (category, text) = (given, start)
        func take(_ mark: StaticString, end: UInt8) {
            guard let name = bytes.behind(mark, at: text), let close = bytes[name...].firstIndex(of: end) else {
                return
            }
            category = .some(Category(bytes, name..<close))
            text = bytes.end(of: { $0 == 0x20 }, from: close + 1)
        }
        take(marks[1], end: UInt8(ascii: "]"))
        take(marks[0], end: UInt8(ascii: ":"))
        return (category ?? nil).map { ($0, text) }
    }
}

/// A parsed annotation.
enum SQLDebugAnnotation {
    /// `sql connection fetch time: 0.0001s`, or `sql execution time: …` for statements that return no rows.
    case statementTime(UInt64)
    /// `total fetch execution time: 0.0024s for 1581 rows.`
    case fetched(time: UInt64, rows: UInt64)
    /// `total count request execution time: 0.0002s for count of 190.`
    case counted(time: UInt64, count: UInt64)
    /// `Bound intarray _Z_intarray0`: the next SELECT belongs to the fetch before.
    case boundArray
    /// `Prefetching with key 'attachments'.  Got 1581 rows.`
    case prefetched(key: Substring, rows: UInt64)
    /// `fault fulfilled from database for : 0xd0… <x-coredata://…/Country/p4>`
    case fault(ObjectURI)
    /// `to-many relationship fault "tags" for objectID 0xa7… <x-coredata://…/Item/p1> fulfilled from database.  Got 0 rows`
    case toManyFault(name: Substring, ObjectURI, rows: UInt64)
    /// `fault fulfilled from row cache for : 0xd0… <x-coredata://…/Country/p4>`, and the same for a to-many
    /// relationship: no statement ran for it.
    case cacheHit
    /// `fetch using NSSQLiteStatement <0x60…> on entity 'Person' with sql text '…' returned 688187 rows`
    case returned(entity: Substring, rows: UInt64)

    /// `count request <NSFetchRequest: 0x7f…> (entity: Word; predicate: (…); …) returned 18988`
    case counting(entity: Substring, count: UInt64?)
    /// `save 14 at Groceries/List.swift:42 in add(_:)`, which Faultline's store logs before a request's statements.
    case request(Request)
    /// `(migration)  in-place migration completed successfully in 2.41 seconds`, for `-com.apple.CoreData.MigrationDebug`
    case migration(MigrationStage)

    /// What a line says about a migration.
    enum MigrationStage {
        /// It goes on; the line can show the way.
        case part(TraceEvent.Migration.Way?)
        /// It ended after a time in nanoseconds.
        case ended(TraceEvent.Migration.Way?, time: UInt64?, hasFailed: Bool)
    }

    struct ObjectURI {
        var entity: Substring
        var text: Substring

        /// Finds the URI after `x-coredata://`, whatever surrounds it.
        fileprivate init?(_ text: Substring, _ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
            guard let store = bytes.position(behind: "x-coredata://", from: start) else { return nil }
            let uri = store..<bytes.end(before: ">", " ", ")", from: store)
            let parts = bytes[uri].split(separator: UInt8(ascii: "/"), maxSplits: 3)
            guard parts.count == 3 else { return nil }
            (entity, self.text) = (text[bytes: parts[1].startIndex..<parts[1].endIndex], text[bytes: uri])
        }
    }

    /// The call site of a request.
    struct Request {
        /// Whether its statements write: a save, or a batch request.
        var writes: Bool
        var site: SiteEntry

        /// - Returns: `nil` if the text is not a line about a request.
        init?(_ text: Substring) {
            let found = text.withBytes { bytes -> (writes: Bool, file: Range<Int>, line: Int, function: Int)? in
                let reading = bytes.behind("fetch ") ?? bytes.behind("count ")
                guard let start = reading ?? bytes.behind("save ") ?? bytes.behind("batch request "),
                    let number = bytes.number(at: start), let file = bytes.behind(" at ", at: number.end)
                else { return nil }
                // A path may contain colons, and even what looks like a line.
                var site: (file: Range<Int>, line: Int, function: Int)?
                var colon = bytes.position(of: ":", from: file)
                while let found = colon {
                    if let line = bytes.number(at: found + 1), let name = bytes.behind(" in ", at: line.end) {
                        site = (file..<found, Int(clamping: line.value), name)
                    }
                    colon = bytes.position(of: ":", from: found + 1)
                }
                return site.map { (reading == nil, $0.file, $0.line, $0.function) }
            }
            guard let found else { return nil }
            writes = found.writes
            site = SiteEntry(
                file: String(text[bytes: found.file]), line: found.line,
                function: String(text[text.index(afterBytes: found.function)...]))
        }
    }

    /// Whether an annotation contains figures, which are lost if it is not understood.
    static func measures(_ text: Substring) -> Bool {
        let signs: [StaticString] = [" time: ", " rows", "fulfilled from", "returned ", "Got "]
        return text.withBytes { bytes in signs.contains { bytes.position(of: $0) != nil } }
    }

    init?(_ text: Substring) {
        guard let annotation = text.withBytes({ Self.parse(text, $0) }) else { return nil }
        self = annotation
    }

    private static func parse(_ text: Substring, _ bytes: UnsafeBufferPointer<UInt8>) -> SQLDebugAnnotation? {
        if let request = Request(text) { return .request(request) }
        if let rest = bytes.behind("sql connection fetch time: ") ?? bytes.behind("sql execution time: ") {
            return bytes.seconds(at: rest).map { .statementTime($0) }
        }
        if let rest = bytes.behind("total fetch execution time: ") {
            guard let time = bytes.seconds(at: rest), let rows = bytes.number(behind: " for ", from: rest) else {
                return nil
            }
            return .fetched(time: time, rows: rows)
        }
        if let rest = bytes.behind("total count request execution time: ") {
            guard let time = bytes.seconds(at: rest), let count = bytes.number(behind: " for count of ", from: rest)
            else { return nil }
            return .counted(time: time, count: count)
        }
        if bytes.hasBytes("Bound intarray _Z_intarray", at: 0) { return .boundArray }
        if let rest = bytes.behind("Prefetching with key '") {
            guard let rows = bytes.number(behind: "Got ", from: rest) else { return nil }
            return .prefetched(key: text[bytes: rest..<bytes.end(before: "'", from: rest)], rows: rows)
        }
        let isFault = bytes.hasBytes("fault fulfilled", at: 0)
        let isToMany = bytes.hasBytes("to-many relationship fault ", at: 0)
        if isFault || isToMany, bytes.position(of: "fulfilled from row cache") != nil { return .cacheHit }
        if let rest = bytes.behind("fault fulfilled from database for : ") {
            return ObjectURI(text, bytes, from: rest).map { .fault($0) }
        }
        if let rest = bytes.behind("to-many relationship fault \"") {
            guard let object = ObjectURI(text, bytes, from: rest), let rows = bytes.number(behind: "Got ", from: rest)
            else { return nil }
            return .toManyFault(name: text[bytes: rest..<bytes.end(before: "\"", from: rest)], object, rows: rows)
        }
        if bytes.hasBytes("fetch using ", at: 0) {
            guard let name = bytes.position(behind: " on entity '"), let rows = bytes.number(behind: "' returned ")
            else {
                return nil
            }
            return .returned(entity: text[bytes: name..<bytes.end(before: "'", from: name)], rows: rows)
        }
        if bytes.hasBytes("count request ", at: 0), let name = bytes.position(behind: "(entity: ") {
            let entity = text[bytes: name..<bytes.end(before: ";", ")", from: name)]
            return .counting(entity: entity, count: bytes.number(behindLast: " returned "))
        }
        if bytes.hasBytes("count using ", at: 0) {
            return .counting(entity: "", count: bytes.number(behindLast: " returned "))
        }
        return bytes.behind("(migration)").map { .migration(MigrationStage(bytes, from: $0)) }
    }
}

extension SQLDebugAnnotation.MigrationStage {
    /// Reads a line of Core Data, or one of Faultline's store, which names the time in seconds as well.
    fileprivate init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
        let has = { (mark: StaticString) in bytes.position(of: mark, from: start) != nil }
        let way: TraceEvent.Migration.Way? =
            if has("in-place") || has("inferr") || has("lightweight") {
                .inferred
            } else if has("with a mapping model") || has("compatible mapping model") || has("custom mapping model") {
                .objects
            } else {
                nil
            }
        let (isWhole, hasFailed) = (has("completed successfully") || has("Migrated the store"), has("failed"))
        guard isWhole || hasFailed else {
            self = .part(way)
            return
        }
        let time = bytes.position(behind: " in ", from: start) ?? bytes.position(behind: " after ", from: start)
        self = .ended(way, time: time.flatMap { bytes.seconds(at: $0) }, hasFailed: hasFailed)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Parses `0.0021s` or `2.41 seconds` into nanoseconds, with or without a full stop after it.
    fileprivate func seconds(at start: Int) -> UInt64? {
        guard let (value, end) = decimal(at: start), value < 1e6, hasBytes("s", at: end) || hasBytes(" s", at: end)
        else { return nil }
        return UInt64((value * 1e9).rounded())
    }

    /// The number behind the first occurrence of a mark, if it is less than 2³².
    fileprivate func number(behind mark: StaticString, from start: Int = 0) -> UInt64? {
        guard let position = position(behind: mark, from: start), let number = number(at: position)?.value else {
            return nil
        }
        return number < 1 << 32 ? number : nil
    }

    fileprivate func number(behindLast mark: StaticString) -> UInt64? {
        var last: Int?
        while let next = position(of: mark, from: last.map { $0 + 1 } ?? 0) { last = next }
        return last.flatMap { number(behind: mark, from: $0) }
    }

    fileprivate func end(before marks: StaticString..., from start: Int) -> Int {
        end(of: { byte in !marks.contains { $0.utf8Start.pointee == byte } }, from: start)
    }
}
