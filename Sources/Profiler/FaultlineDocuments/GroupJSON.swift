package import FaultlineFindings
package import FaultlineProfile
package import FaultlineTrace

extension EventGroup: JSONObject {
    package static let definition: String? = "group"
    package static let summary = "Events of one kind with the same subject and call site."
    package static let members: JSONMembers<EventGroup> = [
        .init("kind", \.key.kind),
        .init("subject", "The subject of the events, such as `Item.list`.") { GroupText.subject($0.key) },
        .init("site", \.key.site), .init("durations", \.durations),
        .init("selfTime", "The time without that of events within, in nanoseconds.", \.selfTime),
        .init("mainThreadTime", "The time on the main thread, in nanoseconds.", \.mainThreadTime),
        .init("counts", \.counts),
        .optional("untimed", "Events whose duration was not recorded.") { $0.untimed > 0 ? $0.untimed : nil },
        .optional("uncounted", "Events whose rows were not recorded.") { $0.uncounted > 0 ? $0.uncounted : nil },
        .optional("faultType", \.key.faultType),
        .optional("source", "Where a fault's rows came from.", \.key.source),
        .optional("statementType", \.key.statementType),
        .optional("fetchSite", "The line of the fetch that a batch belongs to, or null if the trace does not have it.")
        {
            $0.key.kind == .batch ? .some($0.key.fetchSite) : nil
        },
        .optional("shape") {
            if case .shape(let shape) = $0.key.subject { shape } else { nil }
        },
    ]
}

extension EventKind: JSONWord {
    package static let definition: String? = "kind"
    package static let summary = "A kind of event."
    package var jsonWord: String { name }
}

extension TraceEvent.Scope.Kind: JSONWord {
    package static let definition: String? = "scopeKind"
    package static let summary = "The kind of work that a scope marks."
}

extension TraceEvent.Fault.FaultType: JSONWord {}
extension TraceEvent.Fault.Source: JSONWord {}
extension TraceEvent.Statement.StatementType: JSONWord {}

extension EventGroup.Counts: JSONObject {
    package static let definition: String? = "counts"
    package static let summary = "The sums of events' counts; times are in nanoseconds."
    package static let members = JSONMembers(
        fields.map { name, path in JSONMember<EventGroup.Counts>(name) { $0[keyPath: path] } })
}

extension Distribution: JSONObject {
    package static let definition: String? = "distribution"
    package static let summary = "Durations."
    package static let members: JSONMembers<Distribution> = [
        .init("count", \.count), .init("total", "The sum, in nanoseconds.", \.total),
        .init("p50", "The median, in nanoseconds.") { $0.percentile(50) },
        .init("p90", "The 90th percentile, in nanoseconds.") { $0.percentile(90) },
        .init("p99", "The 99th percentile, in nanoseconds.") { $0.percentile(99) },
        .init("max", "The maximum, in nanoseconds.", \.maximum),
    ]
}

extension ShapeEntry: JSONObject {
    package static let definition: String? = "shape"
    package static let summary = "A fetch request without its values."
    package static let members: JSONMembers<ShapeEntry> = [
        .init("entity", \.entity), .init("predicate", "With ? for values.", \.predicate), .init("sort", \.sort),
        .init("prefetch", "Key paths.", \.prefetch), .init("isLimited", \.isLimited),
        .init("resultType", \.resultType),
        .init("terms", "The comparisons of the predicate, or null if they were not recorded.", \.terms),
        .optional("expressions", \.expressions), .optional("groups", \.groups), .optional("having", \.having),
        .optional("includesPropertyValues", \.includesPropertyValues),
    ]
}

extension ShapeEntry.Term: JSONObject {
    package static let definition: String? = "term"
    package static let summary = "A comparison of a predicate."
    package static let members: JSONMembers<ShapeEntry.Term> = [
        .init("keyPath", \.keyPath), .init("operation", \.operation), .init("operand", \.operand),
        .init("options", \.options), .init("wildcards", \.wildcards),
        .init("isAlternative") { $0.isAlternative == true }, .init("isNegated") { $0.isNegated == true },
    ]
}

/// The sum of groups of one kind that have the same name.
struct NamedGroups: JSONObject {
    private let name: String
    private let kind: EventKind
    private var durations = Distribution()
    private var counts = EventGroup.Counts()

    static let members: JSONMembers<NamedGroups> = [
        .init("name", \.name), .init("kind", \.kind), .init("durations", \.durations), .init("counts", \.counts),
    ]

    /// The sums of groups by name and kind, with the names in alphabetical order.
    static func sums(_ groups: [EventGroup], by name: (EventGroup.Key) -> String?) -> [NamedGroups] {
        var sums: [String: [EventKind: NamedGroups]] = [:]
        for group in groups {
            guard let name = name(group.key) else { continue }
            let kind = group.key.kind
            sums[name, default: [:]][kind, default: NamedGroups(name: name, kind: kind)].add(group)
        }
        return sums.ordered(on: \.key).flatMap { $0.value.ordered(on: \.key.rawValue).map(\.value) }
    }

    private mutating func add(_ group: EventGroup) {
        durations.merge(group.durations)
        counts.merge(group.counts)
    }

    static func entity(_ key: EventGroup.Key) -> String? {
        switch key.subject {
        case .shape(let shape): shape.entity
        case .entity(let name): name
        case .relationship(let entity, _): entity
        case .saved, .statement, .named, .unknown: nil
        }
    }

    static func relationship(_ key: EventGroup.Key) -> String? {
        guard case .relationship(let entity, let name) = key.subject else { return nil }
        return "\(entity).\(name)"
    }

    static func statement(_ key: EventGroup.Key) -> String? {
        guard case .statement(let sql) = key.subject else { return nil }
        return sql
    }
}

extension GroupedHotspots: JSONObject {
    package static let members: JSONMembers<GroupedHotspots> = [
        .init("by", \.grouping), .init("rows", \.rows),
    ]
}

extension GroupedHotspots.Grouping: JSONWord {}

extension GroupedHotspots.Row: JSONObject {
    package static let members: JSONMembers<GroupedHotspots.Row> = [
        .init("name", \.name), .init("count", \.count), .init("durations", \.durations), .init("rows", \.rows),
        .init("total", \.total), .share("share", "The part of the sum of all rows.", \.share),
    ]
}

/// How the program used the results of fetches of one shape and call site.
struct ResultUses: JSONObject {
    let fetch: FetchProfile
    let costs: CostModel

    static let members: JSONMembers<ResultUses> = [
        .init("growth", "The time of one fetch with more rows.") { Growth($0.fetch, costs: $0.costs) },
        .init("shape", \.fetch.key.shape), .init("site", \.fetch.key.site),
        .init("uses") { $0.fetch.uses.ordered(on: \.key).map { SizedUse(size: UInt64($0.key), use: $0.value) } },
        .init("properties") { results in
            results.fetch.properties.ordered(on: \.key).flatMap { entity, properties in
                properties.ordered(on: \.key).map { NamedUse(entity: entity, name: $0.key, use: $0.value) }
            }
        },
    ]

    /// The use of results with one batch size.
    private struct SizedUse: JSONObject {
        let size: UInt64
        let use: ResultUse

        static let members: JSONMembers<SizedUse> = [
            .init("batchSize", \.size), .init("executions", \.use.executions), .init("untouched", \.use.untouched),
            .init("rows", \.use.rows), .init("loadedRows", \.use.loadedRows),
            .init("touchedRows", \.use.touchedRows), .init("batchesLoaded", \.use.batchesLoaded),
            .init("countAsked", \.use.countAsked), .init("emptinessAsked", \.use.emptinessAsked),
            .init("modifiedRows", \.use.modifiedRows), .init("bytes", \.use.bytes),
            .init("runsLost", \.use.runsLost), .init("loads", \.use.loads),
            .init("mainThreadLoads", \.use.mainThreadLoads),
            .init("windows") { sized in
                sized.use.windows.flatMap { kind, widths in
                    widths.map { Window(end: kind.map { .scope($0) } ?? .pauses, rows: $0.key, times: $0.value) }
                }.ordered { ($0.end.jsonWord, $0.rows) < ($1.end.jsonWord, $1.rows) }
            },
        ]
    }

    /// Rows that were read before a scope ended or the program paused.
    private struct Window: JSONObject {
        let end: WindowEnd
        let rows: UInt64
        let times: UInt64

        static let members: JSONMembers<Window> = [
            .init("scope", "The event that ended a window.", \.end), .init("rows", \.rows), .init("times", \.times),
        ]
    }

    private enum WindowEnd: JSONWord {
        case scope(TraceEvent.Scope.Kind)
        case pauses

        static let allCases = TraceEvent.Scope.Kind.allCases.map { Self.scope($0) } + [.pauses]

        var jsonWord: String {
            switch self {
            case .scope(let kind): kind.jsonWord
            case .pauses: "pauses"
            }
        }
    }

    /// The use of a property.
    private struct NamedUse: JSONObject {
        let entity: String
        let name: String
        let use: PropertyUse

        static let members: JSONMembers<NamedUse> = [
            .init("entity", \.entity), .init("name", \.name), .init("rowsLoaded", \.use.rowsLoaded),
            .init("rowsRead", \.use.rowsRead), .init("bytes", \.use.bytes), .init("largeRows", \.use.largeRows),
        ]
    }
}

extension Growth: JSONObject {
    package static let members: JSONMembers<Growth> = [
        .init("order", \.order), .init("rows", "The rows now.", \.rows), .init("now", \.now),
        .init("tenfold", "With ten times the rows.") { $0.time(with: 10) },
        .init("hundredfold", "With a hundred times the rows.") { $0.time(with: 100) },
    ]
}

extension Growth.Order: JSONWord {}
