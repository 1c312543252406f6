/// A parsed line that Core Data logged for `-com.apple.CoreData.SQLDebug`.
struct SQLDebugLine {
    /// The process and thread that wrote a line, as far as its prefix names them.
    struct Writer: Hashable {
        var process: UInt32 = 0
        /// The thread in decimal or hexadecimal digits, as written; empty if it is not named.
        var thread: Substring = ""
    }

    /// The category: `"sql"`, `"annotation"`, `"details"`.
    var category: Substring
    var text: Substring
    var writer = Writer()
    /// The program's name; empty if it is not named.
    var program: Substring = ""
    /// The time in nanoseconds since the beginning of 2000; `nil` if the line has none.
    var time: UInt64?

    /// The marks, one of which every line has; searching for them is faster than parsing the line.
    static let marks = ["CoreData: ", "[com.apple.coredata:"]

    /// Parses a line; `nil` if Core Data did not write it.
    ///
    ///     CoreData: sql: SELECT …
    ///     2014-07-30 11:45:15.647 App[65858:2586192] CoreData: sql: SELECT …
    ///     2022-11-05 10:12:31.123456+0100 0x1f2e Debug 0x0 4711 0 App: (CoreData) [com.apple.coredata:sql] SELECT …
    ///     2022-11-05 10:12:31.123 Db App[4711:1f2e] [com.apple.coredata:sql] CoreData: sql: SELECT …
    init?(_ line: Substring) {
        let marks = Self.marks.compactMap { line.firstRange(of: $0)?.lowerBound }
        guard let start = marks.min() else { return nil }
        let prefix = LogPrefix(line[..<start])
        self.init(message: line[start...])
        (writer, program, time) = (prefix.writer, prefix.program, prefix.time)
    }

    /// Parses a message without the prefix that the log adds.
    ///
    /// - Parameter category: The log's category; empty if the message contains its own.
    init?(message: Substring, category: Substring = "") {
        self.category = category
        text = message
        if let rest = text.behind(Self.marks[1]), let bracket = rest.firstIndex(of: "]") {
            self.category = rest[..<bracket]
            text = rest[rest.index(after: bracket)...].drop { $0 == " " }
        }
        if let rest = text.behind(Self.marks[0]), let colon = rest.firstIndex(of: ":") {
            self.category = rest[..<colon]
            text = rest[rest.index(after: colon)...].drop { $0 == " " }
        }
        guard !self.category.isEmpty, self.category.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
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

    struct ObjectURI {
        var entity: Substring
        var text: Substring

        /// Finds the URI after `x-coredata://`, whatever surrounds it.
        init?(_ text: Substring) {
            guard let start = text.firstRange(of: "x-coredata://") else { return nil }
            let uri = text[start.upperBound...].prefix { $0 != ">" && $0 != " " && $0 != ")" }
            let parts = uri.split(separator: "/")
            guard parts.count == 3 else { return nil }
            (entity, self.text) = (parts[1], uri)
        }
    }

    /// Whether an annotation contains figures, which are lost if it is not understood.
    static func measures(_ text: Substring) -> Bool {
        [" time: ", " rows", "fulfilled from", "returned ", "Got "].contains { text.contains($0) }
    }

    init?(_ text: Substring) {
        if let rest = text.behind("sql connection fetch time: ") ?? text.behind("sql execution time: ") {
            guard let time = rest.seconds else { return nil }
            self = .statementTime(time)
        } else if let rest = text.behind("total fetch execution time: ") {
            guard let time = rest.seconds, let rows = rest.number(behind: " for ") else { return nil }
            self = .fetched(time: time, rows: rows)
        } else if let rest = text.behind("total count request execution time: ") {
            guard let time = rest.seconds, let count = rest.number(behind: " for count of ") else { return nil }
            self = .counted(time: time, count: count)
        } else if text.hasPrefix("Bound intarray _Z_intarray") {
            self = .boundArray
        } else if let rest = text.behind("Prefetching with key '") {
            guard let rows = rest.number(behind: "Got ") else { return nil }
            self = .prefetched(key: rest.prefix { $0 != "'" }, rows: rows)
        } else if ["fault fulfilled", "to-many relationship fault "].contains(where: text.hasPrefix),
            text.contains("fulfilled from row cache")
        {
            self = .cacheHit
        } else if let rest = text.behind("fault fulfilled from database for : ") {
            guard let object = ObjectURI(rest) else { return nil }
            self = .fault(object)
        } else if let rest = text.behind("to-many relationship fault \"") {
            guard let object = ObjectURI(rest), let rows = rest.number(behind: "Got ") else { return nil }
            self = .toManyFault(name: rest.prefix { $0 != "\"" }, object, rows: rows)
        } else if let rest = text.behind("fetch using ") {
            guard let start = rest.firstRange(of: " on entity '"), let rows = rest.number(behind: "' returned ") else {
                return nil
            }
            self = .returned(entity: rest[start.upperBound...].prefix { $0 != "'" }, rows: rows)
        } else if text.hasPrefix("count request "), let start = text.firstRange(of: "(entity: ") {
            self = .counting(
                entity: text[start.upperBound...].prefix { $0 != ";" && $0 != ")" },
                count: text.number(behindLast: " returned "))
        } else if text.hasPrefix("count using ") {
            self = .counting(entity: "", count: text.number(behindLast: " returned "))
        } else {
            return nil
        }
    }
}

extension Substring {
    /// Returns the text after a prefix; `nil` if it begins otherwise.
    func behind(_ beginning: String) -> Substring? {
        hasPrefix(beginning) ? dropFirst(beginning.count) : nil
    }

    /// Parses `0.0021s` into nanoseconds, with or without a full stop after it.
    fileprivate var seconds: UInt64? {
        let digits = prefix { $0.isNumber || $0 == "." }
        guard let value = Double(digits), value < 1e6, self[digits.endIndex...].first == "s" else { return nil }
        return UInt64((value * 1e9).rounded())
    }

    fileprivate func number(behindLast mark: String) -> UInt64? {
        ranges(of: mark).last.flatMap { self[$0.lowerBound...].number(behind: mark) }
    }

    fileprivate func number(behind mark: String) -> UInt64? {
        guard let range = firstRange(of: mark) else { return nil }
        return UInt64(self[range.upperBound...].prefix { $0.isNumber }).flatMap { $0 < 1 << 32 ? $0 : nil }
    }
}
