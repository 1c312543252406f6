import FaultlineTrace

/// Infers the fetch that loaded the objects of a log's faults.
///
/// A log does not name an object's origin. A fetch is a candidate if it returned rows of the object's table, or a
/// column named after the object's entity, or, failing that, any column. It must also have returned at least as many
/// rows as distinct objects fired. Members of a to-many relationship come from the fetch of their owners.
struct FaultOrigins {
    /// The properties shared by faults that belong together.
    struct Kind: Hashable {
        var writer: SQLDebugLine.Writer
        /// The table of the objects that fired.
        var table: String
        /// The to-many relationship that fired; empty if the objects themselves did.
        var relationship = ""
    }

    /// A fetch, identified by its place among the log's operations.
    struct Fetch {
        var position: Int
        var writer: SQLDebugLine.Writer
        var table: String
        /// Columns of the properties that were loaded.
        var columns: LoadedColumns
        var rows: UInt64
        fileprivate var led: [Kind: Set<UInt64>] = [:]

        init(position: Int, writer: SQLDebugLine.Writer, _ text: SelectText, rows: UInt64) {
            (self.position, self.writer, self.rows) = (position, writer, rows)
            (table, columns) = (text.table, text.columns)
        }

        /// Whether its rows can have led to all of these objects, in addition to those that they led to before.
        fileprivate func canLead(to objects: Set<UInt64>, of kind: Kind) -> Bool {
            guard UInt64(objects.count) <= rows else { return false }
            guard let led = led[kind] else { return true }
            return UInt64(led.count + objects.count { !led.contains($0) }) <= rows
        }
    }

    /// The way a fetch's rows lead to objects, likeliest first.
    private enum Way: Int, Comparable {
        /// The rows are the objects' keys, without the loaded values.
        case keys
        /// A column is named after the objects' entity.
        case column
        /// The rows are the objects' own, which the row cache may have evicted.
        case rows
        /// Any column may lead there.
        case unknown

        static func < (a: Way, b: Way) -> Bool { a.rawValue < b.rawValue }
    }

    /// A fetch whose rows may lead to the objects of a group; likelier ones come first.
    private struct Candidate: Comparable {
        var index: Int
        var way: Way
        /// Whether it is on the thread of the faults.
        var isNear: Bool

        static func < (a: Candidate, b: Candidate) -> Bool {
            let (likely, other) = (a.way < .unknown, b.way < .unknown)
            if likely != other { return likely }
            if a.isNear != b.isNear { return a.isNear }
            return a.way == b.way ? a.index > b.index : a.way < b.way
        }
    }

    /// Faults of one kind with no fetch in between that may have loaded further objects.
    private struct Group {
        var number: Int
        var faults: [(position: Int, object: UInt64)] = []
        var objects: Set<UInt64> = []
        /// The tables of the objects that to-many relationships led to.
        var led: Set<Table> = []

        /// Adds a fault, and returns the group's number.
        mutating func add(_ object: UInt64, at position: Int, led table: Table?) -> Int {
            faults.append((position, object))
            objects.insert(object)
            if let table { led.insert(table) }
            return number
        }
    }

    private struct Table: Hashable {
        var process: UInt32
        var name: String
    }

    /// The number of fetches that are remembered.
    private static let remembered = 256

    /// The last fetches, and up to as many before them.
    private var all: [Fetch] = []
    private var open: [Kind: Group] = [:]
    /// The open groups' kinds by the tables of their objects.
    private var kinds: [Table: Set<Kind>] = [:]
    private var groups = 0
    /// To-many relationships that led to objects of a table: the group of the last one, and the total of their rows.
    private var members: [Table: (group: Int, rows: UInt64)] = [:]
    /// Fetches by the places of the faults they led to.
    private var origins: [Int: Int] = [:]
    /// Groups of to-many faults by the places of the faults on their members, followed by the groups' fetches.
    private var owners: [Int: Int] = [:]
    private var fetchOfGroup: [Int: Int] = [:]
    /// The places of the fetches that led to faults.
    private var used: Set<Int> = []

    /// The indices of the remembered fetches.
    private var fetches: Range<Int> { max(0, all.count - Self.remembered)..<all.count }

    /// Adds a fetch.
    mutating func add(_ fetch: Fetch) {
        for (table, kinds) in kinds
        where table.process == fetch.writer.process && Self.isLikely(fetch, forTable: table.name) {
            for kind in kinds {
                let isNear = fetch.writer == kind.writer || !fetches.contains { Self.isLikely(all[$0], for: kind) }
                if isNear { close(kind) }
            }
        }
        all.append(fetch)
        if all.count >= 2 * Self.remembered { all.removeFirst(Self.remembered) }
    }

    /// Adds the columns of a batch to its fetch.
    mutating func addBatch(of position: Int, columns: LoadedColumns) {
        guard let index = fetches.last(where: { all[$0].position == position }) else { return }
        all[index].columns = all[index].columns.adding(columns)
    }

    /// Adds a fault.
    ///
    /// - Parameter led: The table of the objects that a to-many relationship led to, and their number.
    mutating func add(_ kind: Kind, object: UInt64, at position: Int, led: (table: String, rows: UInt64)? = nil) {
        let process = kind.writer.process
        if open[kind] == nil {
            groups += 1
            open[kind] = Group(number: groups)
            kinds[Table(process: process, name: kind.table), default: []].insert(kind)
        }
        let led = led.map { (table: Table(process: process, name: $0.table), rows: $0.rows) }
        let number = open[kind]?.add(object, at: position, led: led?.table) ?? 0
        if let led { members[led.table] = (number, led.rows &+ (members[led.table]?.rows ?? 0)) }
    }

    /// Assigns the remaining faults to fetches.
    mutating func finish() {
        for kind in open.keys { close(kind) }
        all = []
        members = [:]
        used = Set(origins.values).union(fetchOfGroup.values)
    }

    /// Whether a fetch loaded the objects of faults, once all are assigned.
    func isOrigin(_ position: Int) -> Bool { used.contains(position) }

    /// The place of the fetch that loaded the object of the fault at a place; `nil` if no fetch can have.
    func origin(of position: Int) -> Int? { origins[position] ?? owners[position].flatMap { fetchOfGroup[$0] } }

    // MARK: - Assignment

    private mutating func close(_ kind: Kind) {
        guard let group = open.removeValue(forKey: kind), let first = group.faults.first?.position else { return }
        let table = Table(process: kind.writer.process, name: kind.table)
        kinds[table]?.remove(kind)
        if kinds[table]?.isEmpty == true { kinds[table] = nil }
        for led in group.led where members[led]?.group == group.number {
            for inner in kinds[led] ?? [] where inner.relationship.isEmpty { close(inner) }
            members[led] = nil
        }
        let ways = fetches.compactMap { index -> Candidate? in
            let fetch = all[index]
            guard fetch.position < first, fetch.writer.process == kind.writer.process else { return nil }
            return Self.way(of: fetch, to: kind).map {
                Candidate(index: index, way: $0, isNear: fetch.writer == kind.writer)
            }
        }.sorted()
        let likely = ways.prefix { $0.way < .unknown }
        let whole = likely.first { all[$0.index].canLead(to: group.objects, of: kind) }
        if whole?.way != .keys, let owner = owner(of: kind, group) {
            for fault in group.faults { owners[fault.position] = owner }
            return
        }
        if let whole { return give(group.faults[...], of: group, kind, to: whole.index) }
        // No single fetch has that many rows, so each takes the faults it can have led to.
        var rest = group.faults[...]
        for candidate in likely where !rest.isEmpty {
            let taken = rest.prefix(Self.lengthLed(all[candidate.index], kind, rest))
            give(taken, of: group, kind, to: candidate.index)
            rest = rest.dropFirst(taken.count)
        }
        let objects = Set(rest.map(\.object))
        let other = ways.dropFirst(likely.count).first { all[$0.index].canLead(to: objects, of: kind) }
        if let other, !rest.isEmpty { give(rest, of: group, kind, to: other.index) }
    }

    /// The group of to-many faults whose members the objects can be.
    private func owner(of kind: Kind, _ group: Group) -> Int? {
        let table = Table(process: kind.writer.process, name: kind.table)
        guard kind.relationship.isEmpty, let members = members[table], UInt64(group.objects.count) <= members.rows
        else { return nil }
        return members.group
    }

    /// The number of faults, from the first, that a fetch's rows can have led to.
    private static func lengthLed(
        _ fetch: Fetch, _ kind: Kind, _ faults: ArraySlice<(position: Int, object: UInt64)>
    ) -> Int {
        let led = fetch.led[kind] ?? []
        var added: Set<UInt64> = []
        return faults.prefix { fault in
            if !led.contains(fault.object) { added.insert(fault.object) }
            return UInt64(led.count + added.count) <= fetch.rows
        }.count
    }

    private mutating func give(
        _ faults: ArraySlice<(position: Int, object: UInt64)>, of group: Group, _ kind: Kind, to index: Int
    ) {
        guard !faults.isEmpty else { return }
        let position = all[index].position
        for fault in faults { origins[fault.position] = position }
        all[index].led[kind, default: []].formUnion(faults.map(\.object))
        if fetchOfGroup[group.number] == nil { fetchOfGroup[group.number] = position }
    }

    /// Whether a fetch is on the thread of the faults, and its rows lead to the objects in a way other than `unknown`.
    private static func isLikely(_ fetch: Fetch, for kind: Kind) -> Bool {
        fetch.writer == kind.writer && isLikely(fetch, forTable: kind.table)
    }

    /// Whether a fetch's rows lead to a table's objects in a way other than `unknown`.
    private static func isLikely(_ fetch: Fetch, forTable table: String) -> Bool {
        fetch.table == table || fetch.columns.lead(to: table)
    }

    private static func way(of fetch: Fetch, to kind: Kind) -> Way? {
        if fetch.table == kind.table {
            return kind.relationship.isEmpty && !fetch.columns.names.isEmpty ? .rows : .keys
        }
        if fetch.columns.lead(to: kind.table) { return .column }
        return fetch.columns.names.isEmpty ? nil : .unknown
    }
}

/// The columns of the properties that a fetch loaded; fetches with the same text share them.
final class LoadedColumns {
    let names: [String]
    /// The answers of ``lead(to:)`` by table, as many as are kept.
    private var answers: [String: Bool] = [:]
    private static let maximumAnswers = 1024
    /// The columns together with others.
    private var sums: [(other: LoadedColumns, sum: LoadedColumns)] = []
    private static let maximumSums = 16

    init(_ names: [String]) {
        self.names = names
    }

    /// The columns, followed by those of another text that they lack.
    func adding(_ other: LoadedColumns) -> LoadedColumns {
        if let known = sums.first(where: { $0.other === other }) { return known.sum }
        let own = Set(names)
        let new = other.names.filter { !own.contains($0) }
        let sum = new.isEmpty ? self : LoadedColumns(names + new)
        if sums.count == Self.maximumSums { sums = [] }
        sums.append((other, sum))
        return sum
    }

    /// Whether a column is named after a table's entity: `ZAUTHOR`, `ZFIRSTAUTHOR` or `ZAUTHOR1` after `ZAUTHOR`.
    func lead(to table: String) -> Bool {
        if let known = answers[table] { return known }
        if answers.count == Self.maximumAnswers { answers = [:] }
        let entity = table.utf8.dropFirst()
        let isLed = names.contains { Self.leads($0.utf8.dropFirst(), to: entity) }
        answers[table] = isLed
        return isLed
    }

    private static func leads(_ name: Substring.UTF8View, to entity: Substring.UTF8View) -> Bool {
        guard !name.isEmpty, !entity.isEmpty else { return false }
        let bare = name.reversed().drop(while: \.isDigit)
        let length = bare.count
        return bare.elementsEqual(entity.reversed()) || (entity.count >= 4 && bare.starts(with: entity.reversed()))
            || (length >= 4 && entity.reversed().starts(with: bare))
    }
}
