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
        var columns: [String]
        var rows: UInt64
        fileprivate var led: [Kind: Set<UInt64>] = [:]

        init(position: Int, writer: SQLDebugLine.Writer, _ text: SelectText, rows: UInt64) {
            (self.position, self.writer, self.rows) = (position, writer, rows)
            (table, columns) = (text.table, text.columns)
        }

        /// Whether its rows can have led to all of these objects, in addition to those that they led to before.
        fileprivate func canLead(to objects: Set<UInt64>, of kind: Kind) -> Bool {
            UInt64(led[kind]?.union(objects).count ?? objects.count) <= rows
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

    /// Faults of one kind with no fetch in between that may have loaded further objects.
    private struct Group {
        var number: Int
        var faults: [(position: Int, object: UInt64)] = []
        var objects: Set<UInt64> = []
    }

    private struct Members: Hashable {
        var process: UInt32
        var table: String
    }

    /// The number of fetches that are remembered.
    private static let remembered = 256

    private var fetches: [Fetch] = []
    private var open: [Kind: Group] = [:]
    private var groups = 0
    /// To-many relationships that led to objects of a table: the group of the last one, and the total of their rows.
    private var members: [Members: (group: Int, rows: UInt64)] = [:]
    /// Fetches by the places of the faults they led to.
    private var origins: [Int: Int] = [:]
    /// Groups of to-many faults by the places of the faults on their members, followed by the groups' fetches.
    private var owners: [Int: Int] = [:]
    private var fetchOfGroup: [Int: Int] = [:]

    /// Adds a fetch.
    mutating func add(_ fetch: Fetch) {
        for kind in open.keys where kind.writer.process == fetch.writer.process {
            guard let way = Self.way(of: fetch, to: kind), way < .unknown else { continue }
            let isNear = fetch.writer == kind.writer || !fetches.contains { Self.isLikely($0, for: kind) }
            if isNear { close(kind) }
        }
        fetches.append(fetch)
        if fetches.count > Self.remembered { fetches.removeFirst() }
    }

    /// Adds the columns of a batch to its fetch.
    mutating func addBatch(of position: Int, columns: [String]) {
        guard let index = fetches.lastIndex(where: { $0.position == position }) else { return }
        fetches[index].columns += columns.filter { !fetches[index].columns.contains($0) }
    }

    /// Adds a fault.
    ///
    /// - Parameter led: The table of the objects that a to-many relationship led to, and their number.
    mutating func add(_ kind: Kind, object: UInt64, at position: Int, led: (table: String, rows: UInt64)? = nil) {
        if open[kind] == nil {
            groups += 1
            open[kind] = Group(number: groups)
        }
        open[kind]?.faults.append((position, object))
        open[kind]?.objects.insert(object)
        guard let led, let number = open[kind]?.number else { return }
        let key = Members(process: kind.writer.process, table: led.table)
        members[key] = (number, led.rows &+ (members[key]?.rows ?? 0))
    }

    /// Assigns the remaining faults to fetches.
    mutating func finish() {
        for kind in open.keys { close(kind) }
        fetches = []
        members = [:]
    }

    /// The place of the fetch that loaded the object of the fault at a place; `nil` if no fetch can have.
    func origin(of position: Int) -> Int? { origins[position] ?? owners[position].flatMap { fetchOfGroup[$0] } }

    // MARK: Assignment

    private mutating func close(_ kind: Kind) {
        guard let group = open.removeValue(forKey: kind), let first = group.faults.first?.position else { return }
        for led in members.filter({ $0.value.group == group.number }).keys {
            for inner in open.keys
            where inner.relationship.isEmpty && inner.table == led.table
                && inner.writer.process == led.process
            {
                close(inner)
            }
            members[led] = nil
        }
        let ways = fetches.indices.compactMap { index -> (index: Int, way: Way)? in
            let fetch = fetches[index]
            guard fetch.position < first, fetch.writer.process == kind.writer.process else { return nil }
            return Self.way(of: fetch, to: kind).map { (index, $0) }
        }.sorted { a, b in
            let (near, far) = (fetches[a.index].writer == kind.writer, fetches[b.index].writer == kind.writer)
            if (a.way < .unknown) != (b.way < .unknown) { return a.way < .unknown }
            if near != far { return near }
            return a.way == b.way ? a.index > b.index : a.way < b.way
        }
        let likely = ways.filter { $0.way < .unknown }
        let whole = likely.first { fetches[$0.index].canLead(to: group.objects, of: kind) }
        if whole?.way != .keys, let owner = owner(of: kind, group) {
            for fault in group.faults { owners[fault.position] = owner }
            return
        }
        if let whole { return give(group.faults, of: group, kind, to: whole.index) }
        // No single fetch has that many rows, so each takes the faults it can have led to.
        var rest = group.faults[...]
        for (index, _) in likely where !rest.isEmpty {
            let taken = rest.prefix(Self.lengthLed(fetches[index], kind, rest))
            give(Array(taken), of: group, kind, to: index)
            rest = rest.dropFirst(taken.count)
        }
        let objects = Set(rest.map(\.object))
        let other = ways.first { $0.way == .unknown && fetches[$0.index].canLead(to: objects, of: kind) }
        if let other, !rest.isEmpty { give(Array(rest), of: group, kind, to: other.index) }
    }

    /// The group of to-many faults whose members the objects can be.
    private func owner(of kind: Kind, _ group: Group) -> Int? {
        let key = Members(process: kind.writer.process, table: kind.table)
        guard kind.relationship.isEmpty, let members = members[key], UInt64(group.objects.count) <= members.rows
        else { return nil }
        return members.group
    }

    /// The number of faults, from the first, that a fetch's rows can have led to.
    private static func lengthLed(
        _ fetch: Fetch, _ kind: Kind, _ faults: ArraySlice<(position: Int, object: UInt64)>
    ) -> Int {
        var led = fetch.led[kind] ?? []
        var length = 0
        for fault in faults {
            led.insert(fault.object)
            guard UInt64(led.count) <= fetch.rows else { break }
            length += 1
        }
        return length
    }

    private mutating func give(
        _ faults: [(position: Int, object: UInt64)], of group: Group, _ kind: Kind, to index: Int
    ) {
        guard !faults.isEmpty else { return }
        let position = fetches[index].position
        for fault in faults { origins[fault.position] = position }
        fetches[index].led[kind, default: []].formUnion(faults.map(\.object))
        if fetchOfGroup[group.number] == nil { fetchOfGroup[group.number] = position }
    }

    /// Whether a fetch is on the thread of the faults, and its rows lead to the objects in a way other than `unknown`.
    private static func isLikely(_ fetch: Fetch, for kind: Kind) -> Bool {
        guard fetch.writer == kind.writer, let way = way(of: fetch, to: kind) else { return false }
        return way < .unknown
    }

    private static func way(of fetch: Fetch, to kind: Kind) -> Way? {
        if fetch.table == kind.table { return kind.relationship.isEmpty && !fetch.columns.isEmpty ? .rows : .keys }
        if fetch.columns.contains(where: { leads($0, to: kind.table) }) { return .column }
        return fetch.columns.isEmpty ? nil : .unknown
    }

    /// Whether a column is named after a table's entity: `ZAUTHOR`, `ZFIRSTAUTHOR` or `ZAUTHOR1` after `ZAUTHOR`.
    private static func leads(_ column: String, to table: String) -> Bool {
        let (name, entity) = (column.dropFirst(), table.dropFirst())
        guard !name.isEmpty, !entity.isEmpty else { return false }
        let bare = name.reversed().drop { $0.isNumber }.reversed()
        return bare.elementsEqual(entity) || (entity.count >= 4 && bare.reversed().starts(with: entity.reversed()))
            || (bare.count >= 4 && entity.reversed().starts(with: bare.reversed()))
    }
}
