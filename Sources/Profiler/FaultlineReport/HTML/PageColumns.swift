internal import FaultlineDocuments
internal import FaultlineTrace

/// Columns of numbers, stored byte by byte: the lowest bytes of all rows, then the next ones, as far as any row needs them.
///
/// Bytes of the same weight resemble each other, so that they compress better than the numbers one after the other.
struct PageColumns {
    /// A column's place among the bytes.
    struct Entry {
        var name: String
        /// How the numbers are written.
        var coding: Coding
        var rows: Int
        /// The number of bytes of each number.
        var width: Int
    }

    /// How a column's numbers are written.
    enum Coding: String {
        /// As they are.
        case plain
        /// As the difference to the row before, which is never negative.
        case ascending
        /// As the distance to the row itself: 0 for none, or else 1 more than the distance, whose lowest bit is its sign.
        case row
        /// 0 for none, 1 for a number that occurs for the first time, or else 2 more than the number of others that occurred
        /// first since.
        case repeated
    }

    private(set) var entries: [Entry] = []
    private(set) var bytes: [UInt8] = []

    mutating func add(_ name: String, _ values: [UInt64], _ coding: Coding = .plain) {
        let most = values.max() ?? 0
        let width = (UInt64.bitWidth - most.leadingZeroBitCount + 7) / 8
        entries.append(Entry(name: name, coding: coding, rows: values.count, width: width))
        bytes.reserveCapacity(bytes.count + width * values.count)
        for byte in 0..<width {
            let shift = UInt64(byte * 8)
            for value in values { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
    }

    /// Adds a column of numbers that never fall.
    mutating func add(ascending name: String, _ values: [UInt64]) {
        var last: UInt64 = 0
        let steps = values.map { value in
            defer { last = value }
            return value &- last
        }
        add(name, steps, .ascending)
    }

    /// Adds a column of references to rows.
    ///
    /// - Parameters:
    ///   - targets: The rows that are referred to, or `nil` for none.
    ///   - rows: The rows that refer to them.
    mutating func add(rows name: String, _ targets: [Int?], from rows: [Int]) {
        let distances = zip(targets, rows).map { target, row -> UInt64 in
            guard let target else { return 0 }
            let distance = row - target
            return UInt64(distance >= 0 ? distance * 2 : -distance * 2 - 1) + 1
        }
        add(name, distances, .row)
    }

    /// Adds a column of hashes, of which only the equality counts.
    mutating func add(hashes name: String, _ values: [UInt64]) {
        var numbers: [UInt64: Int] = [:]
        let coded = values.map { value -> UInt64 in
            if value == 0 { return 0 }
            if let known = numbers[value] { return UInt64(numbers.count - known) + 1 }
            numbers[value] = numbers.count
            return 1
        }
        add(name, coded, .repeated)
    }

    /// The columns' description, in the order of their bytes.
    var json: JSONValue {
        .array(
            entries.map { entry in
                .object([
                    ("name", .string(entry.name)), ("coding", .string(entry.coding.rawValue)),
                    ("rows", .integer(Int64(entry.rows))), ("width", .integer(Int64(entry.width))),
                ])
            })
    }
}

/// An event of a page, with its references as numbers of the page's tables.
struct PageRow {
    var kind: EventKind
    var process: UInt32
    var id: EventID
    var parent: EventID
    var scope: EventID
    var start: UInt64
    var duration: UInt64
    var runDelay: UInt64
    var thread: Int
    var context: Int
    var site: Int
    var path: Int
    /// The event's subject in a few words, as a string.
    var label: Int
    /// The event's lists as JSON, as a string.
    var lists: Int
    /// The findings that rest on the event, a bit each.
    var findings: UInt64
    /// Bits: the duration is unknown (1), the rows are unknown (2).
    var flags: UInt64
    /// The weights that the event has in a call tree, a bit each in the order of ``CallTreeWeight/all``.
    var weights: UInt64
    /// The place of its kind's fields among those of all events of its kind.
    var fields: Int

    /// When the event ended.
    var end: UInt64 { start &+ duration }
}

extension PageRow {
    /// The order of a page: by start, with events before those within them.
    static func precedes(_ a: PageRow, _ b: PageRow) -> Bool {
        if a.start != b.start { return a.start < b.start }
        return a.duration != b.duration ? a.duration > b.duration : a.id < b.id
    }
}
