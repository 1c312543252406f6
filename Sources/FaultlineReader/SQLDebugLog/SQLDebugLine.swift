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
    init?(_ line: Substring) {
        if let mark = line.firstRange(of: Self.marks[0]) {
            let rest = line[mark.upperBound...]
            guard let colon = rest.firstIndex(of: ":") else { return nil }
            category = rest[..<colon]
            text = rest[rest.index(after: colon)...].drop { $0 == " " }
            read(prefix: line[..<mark.lowerBound])
        } else if let mark = line.firstRange(of: Self.marks[1]) {
            let rest = line[mark.upperBound...]
            guard let bracket = rest.firstIndex(of: "]") else { return nil }
            category = rest[..<bracket]
            text = rest[rest.index(after: bracket)...].drop { $0 == " " }
            read(prefix: line[..<mark.lowerBound])
        } else {
            return nil
        }
        guard !category.isEmpty, category.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
    }

    private mutating func read(prefix: Substring) {
        let words = prefix.split(separator: " ")
        guard words.count >= 2, let day = Self.day(words[0]), let time = Self.time(words[1]) else { return }
        self.time = day * 86_400_000_000_000 + time
        // "App[65858:2586192]", whose name can have spaces, or "0x1f2e Debug 0x0 4711 0 App:".
        if let open = prefix.lastIndex(of: "["), let close = prefix[open...].firstIndex(of: "]") {
            let ids = prefix[prefix.index(after: open)..<close].split(separator: ":")
            guard ids.count == 2, let process = UInt32(ids[0]) else { return }
            writer = Writer(process: process, thread: ids[1])
            program = prefix[..<open].split(separator: " ", maxSplits: 2).last ?? ""
        } else if words.count >= 8, words[2].hasPrefix("0x"), let process = UInt32(words[5]) {
            writer = Writer(process: process, thread: words[2].dropFirst(2))
            program = words[7].prefix { $0 != ":" }
        }
    }

    /// `2014-07-30` in days since the beginning of the year 2000.
    private static func day(_ word: Substring) -> UInt64? {
        let parts = word.split(separator: "-").compactMap { UInt64($0) }
        guard parts.count == 3, (2000...2199).contains(parts[0]), (1...12).contains(parts[1]),
            (1...31).contains(parts[2])
        else { return nil }
        // Years that begin with March have their leap day at the end.
        let month = (parts[1] + 9) % 12
        let year = parts[0] - (month > 9 ? 1 : 0)
        return year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + parts[2] - 1 - 730_425
    }

    /// `11:45:15.647`, with a time zone behind it or not.
    private static func time(_ word: Substring) -> UInt64? {
        let parts = word.prefix { $0 != "+" && $0 != "-" }.split(separator: ":")
        guard parts.count == 3, let hours = UInt64(parts[0]), let minutes = UInt64(parts[1]),
            let seconds = Double(parts[2]), hours < 24, minutes < 60, (0..<61).contains(seconds)
        else { return nil }
        return (hours * 3600 + minutes * 60) * 1_000_000_000 + UInt64(seconds * 1e9)
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
    /// `fetch using NSSQLiteStatement <0x60…> on entity 'Person' with sql text '…' returned 688187 rows`
    case returned(entity: Substring, rows: UInt64)

    /// `count request <NSFetchRequest: 0x7f…> (entity: Word; predicate: (…); …) returned 18988`
    case counting(entity: Substring)

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
        } else if let rest = text.behind("fault fulfilled from database for : ") {
            guard let object = ObjectURI(rest) else { return nil }
            self = .fault(object)
        } else if let rest = text.behind("to-many relationship fault \"") {
            guard let object = ObjectURI(rest), let rows = rest.number(behind: "Got ") else { return nil }
            self = .toManyFault(name: rest.prefix { $0 != "\"" }, object, rows: rows)
        } else if let rest = text.behind("fetch using NSSQLiteStatement ") {
            guard let start = rest.firstRange(of: " on entity '"), let rows = rest.number(behind: "' returned ") else {
                return nil
            }
            self = .returned(entity: rest[start.upperBound...].prefix { $0 != "'" }, rows: rows)
        } else if text.hasPrefix("count request "), let start = text.firstRange(of: "(entity: ") {
            self = .counting(entity: text[start.upperBound...].prefix { $0 != ";" })
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
        guard let value = Double(digits), value < 1e6 else { return nil }
        return UInt64((value * 1e9).rounded())
    }

    fileprivate func number(behind mark: String) -> UInt64? {
        guard let range = firstRange(of: mark) else { return nil }
        return UInt64(self[range.upperBound...].prefix { $0.isNumber }).flatMap { $0 < 1 << 32 ? $0 : nil }
    }
}
