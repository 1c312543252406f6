internal import FaultlineTrace

/// The work between a program and its store, summed up by entity, thread, scope or call site.
package struct GroupedHotspots: Sendable {
    /// The property by which work is summed up.
    package enum Grouping: String, Sendable, CaseIterable {
        case entity, thread, scope, site
    }

    /// The work of one entity, thread, scope or call site.
    package struct Row: Sendable {
        package internal(set) var name: String
        /// The number of operations or, by scope, of scopes.
        package internal(set) var count: UInt64 = 0
        /// The durations of the operations or, by scope, of the scopes.
        package internal(set) var durations = Distribution()
        /// The number of operations without a duration in the trace.
        package internal(set) var untimed: UInt64 = 0
        /// The number of rows, or `nil` if the trace does not have it.
        package var rows: UInt64? { uncounted > 0 && uncounted == count ? nil : countedRows }
        var countedRows: UInt64 = 0
        /// The number of operations without a row count in the trace.
        var uncounted: UInt64 = 0
        /// The number of round trips by scope, and otherwise `nil`.
        package internal(set) var trips: UInt64?
        /// The time in the store, in nanoseconds.
        package internal(set) var total: UInt64 = 0
        /// The time as a share of the store's time, from 0 to 1.
        package internal(set) var share = 0.0

        init(_ name: String) { self.name = name }
    }

    package let grouping: Grouping
    /// The rows, the longest total first.
    package let rows: [Row]

    /// Sums up the operations of a profile or, if it has none, its statements.
    ///
    /// - Parameter threads: The sums of threads, which a profile does not have.
    package init(_ profile: Profile, by grouping: Grouping, threads: ThreadSums = ThreadSums()) {
        self.grouping = grouping
        var rows: [Row] =
            switch grouping {
            case .thread: threads.rows
            case .scope: profile.scopes.map(Self.row)
            case .entity: Self.sums(profile.hotspots, by: Self.entity)
            case .site: Self.sums(profile.hotspots) { $0.site?.description ?? "unknown call site" }
            }
        if grouping == .entity || grouping == .site, let statements = Self.statements(outsideOperationsOf: profile) {
            rows.append(statements)
        }
        let storeTime = Double(max(1, profile.totals.storeTime))
        for index in rows.indices { rows[index].share = min(1, Double(rows[index].total) / storeTime) }
        self.rows = rows.ordered { ($0.total, $0.count, $1.name) > ($1.total, $1.count, $0.name) }
    }

    private static func row(_ scope: ScopeSummary) -> Row {
        var row = Row(scope.key.kind == .other ? scope.key.name : "\(scope.key.name) (\(scope.key.kind))")
        (row.count, row.durations) = (scope.count, scope.wallTimes)
        (row.trips, row.countedRows, row.total) = (scope.trips, scope.rows, scope.storeTime)
        return row
    }

    /// The statements that are part of no operation, such as those that set up the store, or `nil` if there are none or if
    /// the rows are about statements.
    private static func statements(outsideOperationsOf profile: Profile) -> Row? {
        guard !profile.hotspots.contains(where: { $0.key.kind == .sql }) else { return nil }
        var row = Row("other statements")
        row.count = profile.totals.outermostEvents[.sql] ?? 0
        row.total = profile.totals.outermostTime[.sql] ?? 0
        // Neither rows nor single durations are summed up for them alone.
        row.uncounted = row.count
        let untimed = profile.groups.contains { $0.key.kind == .sql && $0.untimed > 0 }
        row.untimed = row.total == 0 && untimed ? row.count : 0
        return row.count > 0 ? row : nil
    }

    private static func sums(_ groups: [EventGroup], by name: (EventGroup.Key) -> String) -> [Row] {
        var rows: [String: Row] = [:]
        for group in groups {
            let name = name(group.key)
            rows[name, default: Row(name)].add(group)
        }
        return Array(rows.values)
    }

    private static func entity(_ key: EventGroup.Key) -> String {
        let name =
            switch key.subject {
            case .shape(let shape): shape.entity
            case .entity(let name): name
            case .relationship(let entity, _): entity
            case .saved(let entities): entities.joined(separator: ", ")
            case .statement, .named, .unknown: ""
            }
        return name.isEmpty ? "no entity" : name
    }
}

extension GroupedHotspots.Row {
    /// Adds the events of a group.
    fileprivate mutating func add(_ group: EventGroup) {
        count &+= group.count
        durations.merge(group.durations)
        untimed &+= group.untimed
        uncounted &+= group.uncounted
        countedRows &+= group.counts.rows
        total &+= group.totalTime
    }
}

extension Profile {
    /// The groups of operations, or of statements if the trace has nothing else.
    package var hotspots: [EventGroup] {
        let operations = groups.filter { $0.key.kind != .cacheMiss && $0.key.kind != .sql }
        // A program without an object store waits for SQLite's lock in its statements.
        return operations.allSatisfy { $0.key.kind == .wait } ? groups : operations
    }
}
