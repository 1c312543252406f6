internal import FaultlineTrace

/// An event of a page, with what it refers to as numbers of the page's tables.
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
    /// Bits: the duration is unknown (1), the rows are unknown (2), the event happened during another one (4).
    var flags: UInt64
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
