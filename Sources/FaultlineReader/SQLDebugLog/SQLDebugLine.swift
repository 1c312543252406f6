/// A line that Core Data logged for `-com.apple.CoreData.SQLDebug`, taken apart.
struct SQLDebugLine {
    /// Who wrote it, as far as what stands before it tells.
    struct Writer: Hashable {
        var process: UInt32 = 0
        /// The thread as it stands there, in decimal or hexadecimal digits; empty: not told.
        var thread: Substring = ""
    }

    /// What kind of line it is: `"sql"`, `"annotation"`, `"details"`.
    var category: Substring
    var text: Substring
    var writer = Writer()
    /// The program's name; empty: not told.
    var program: Substring = ""
    /// When it was written, in nanoseconds since the beginning of the year 2000; `nil`: not told.
    var time: UInt64?

    /// What every such line has; faster to look for than to take a line apart.
    static let marks = ["CoreData: ", "[com.apple.coredata:"]

    /// Takes a line apart; `nil`: it is none of Core Data's.
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

    /// Takes apart what a program handed to a log, without what the log puts before it.
    ///
    /// - Parameter category: That of the log; empty: the message has its own.
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

/// What an annotation says.
enum SQLDebugAnnotation {
    /// `sql connection fetch time: 0.0001s`, or of what returns no rows `sql execution time: …`.
    case statementTime(UInt64)
    /// `total fetch execution time: 0.0024s for 1581 rows.`
    case fetched(time: UInt64, rows: UInt64)
    /// `total count request execution time: 0.0002s for count of 190.`
    case counted(time: UInt64, count: UInt64)
    /// `Bound intarray _Z_intarray0`: what is fetched next belongs to the fetch before.
    case boundArray
    /// `Prefetching with key 'attachments'.  Got 1581 rows.`
    case prefetched(key: Substring, rows: UInt64)
    /// `fault fulfilled from database for : 0xd0… <x-coredata://…/Country/p4>`
    case fault(ObjectURI)
    /// `to-many relationship fault "tags" for objectID 0xa7… <x-coredata://…/Item/p1> fulfilled from database.  Got 0 rows`
    case toManyFault(name: Substring, ObjectURI, rows: UInt64)
    /// `fault fulfilled from row cache for : 0xd0… <x-coredata://…/Country/p4>`, and the same of a to-many relationship: no
    /// statement was run for it.
    case cacheHit
    /// `fetch using NSSQLiteStatement <0x60…> on entity 'Person' with sql text '…' returned 688187 rows`
    case returned(entity: Substring, rows: UInt64)

    /// `count request <NSFetchRequest: 0x7f…> (entity: Word; predicate: (…); …) returned 18988`
    case counting(entity: Substring, count: UInt64?)

    struct ObjectURI {
        var entity: Substring
        var text: Substring

        /// The URI behind `x-coredata://`, whatever is put around it.
        init?(_ text: Substring) {
            guard let start = text.firstRange(of: "x-coredata://") else { return nil }
            let uri = text[start.upperBound...].prefix { $0 != ">" && $0 != " " && $0 != ")" }
            let parts = uri.split(separator: "/")
            guard parts.count == 3 else { return nil }
            (entity, self.text) = (parts[1], uri)
        }
    }

    /// Whether an annotation has figures of statements, which one that is not understood costs.
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
    /// What stands behind a beginning; `nil`: it begins otherwise.
    func behind(_ beginning: String) -> Substring? {
        hasPrefix(beginning) ? dropFirst(beginning.count) : nil
    }

    /// `0.0021s` in nanoseconds, with a full stop behind it or not.
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
