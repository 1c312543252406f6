package import FaultlineTrace

/// The objects of one fetch that saves wrote before the program read anything of them.
struct UnreadRows: Sendable {
    var deleted: UInt64 = 0
    /// The number of objects that were all set to the same values.
    var updated: UInt64 = 0
    /// The properties that were set, one bit each, and a hash of their values.
    private var properties: UInt64 = 0
    private var values: UInt64 = 0
    /// Whether different saves set different values.
    private var differs = false
    var written = WrittenRows()

    /// Adds the objects that one save wrote.
    mutating func add(_ part: TraceEvent.Save.Unread, of save: TraceEvent.Save, _ event: TraceEvent, at site: CallSite?)
    {
        let rows = part.deleted &+ part.updated
        deleted &+= part.deleted
        if part.updated > 0 {
            differs = differs || (updated > 0 && (part.properties, part.values) != (properties, values))
            (properties, values) = (part.properties, part.values)
            updated &+= part.updated
        }
        // A save that also writes other objects spends its time on all of them.
        let share = min(1, Double(rows) / Double(max(1, save.objects &+ UInt64(save.unchanged))))
        let own = save.ownTime(of: event)
        var writing = WrittenRows()
        (writing.saves, writing.time, writing.rows) = (1, UInt64(Double(own) * share), [site: rows])
        writing.commit = UInt64(Double(min(save.commit, event.duration)) * share)
        written.merge(writing)
    }

    /// The names of the properties that were set, or `nil` if the objects were not all set to the same values.
    func names(_ entity: EntityEntry) -> [String]? {
        let places = (0..<UInt64.bitWidth).filter { properties & (1 << UInt64($0)) != 0 }
        guard !differs, let last = places.last, last < entity.properties.count else { return nil }
        return places.map { entity.properties[$0].name }
    }
}

/// The cost of saving objects that the program fetched only to write them.
package struct WrittenRows: Sendable, Hashable {
    package var saves: UInt64 = 0
    /// The objects' share of the saves' time, without waits for others and COMMIT, and their share of COMMIT, in
    /// nanoseconds.
    package var time: UInt64 = 0
    package var commit: UInt64 = 0
    /// The number of saved objects, by the line that saved them.
    package var rows: [CallSite?: UInt64] = [:]

    package init() {}
}

extension WrittenRows: Summed, StartsEmpty {
    package static let parts: [SumPart<WrittenRows>] = [
        .sum("saves", \.saves), .sum("time", \.time), .sum("commit", \.commit), .part("rows", \.rows),
    ]
}

extension ResultNeed {
    /// The purpose of a result whose objects were all deleted, or all set to the same values, without being read.
    ///
    /// Returns `nil` if it had another purpose.
    init?(_ use: TraceEvent.Use, entity: EntityEntry?, unread: UnreadRows) {
        guard let entity, use.rows > 0, use.properties.allSatisfy({ $0.rowsRead == 0 }) else { return nil }
        if unread.deleted == UInt64(use.rows) {
            self = .deletion
        } else if unread.updated == UInt64(use.rows), let properties = unread.names(entity) {
            self = .update(properties: properties)
        } else {
            return nil
        }
    }

    /// Whether the program fetched the objects only to delete them, or to set them to the same values.
    var isWritten: Bool {
        switch self {
        case .deletion, .update: true
        default: false
        }
    }
}
