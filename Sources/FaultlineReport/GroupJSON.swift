internal import FaultlineAnalysis
internal import FaultlineTrace

/// Groups of events as JSON.
enum GroupJSON {
    static func value(_ group: EventGroup) -> JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(group.key.kind.name), "subject": .string(GroupText.subject(group.key)),
            "site": SiteJSON.value(group.key.site), "durations": DistributionJSON.value(group.durations),
            "selfTime": .unsigned(group.selfTime), "mainThreadTime": .unsigned(group.mainThreadTime),
            "counts": counts(group.counts),
        ]
        if group.untimed > 0 { members["untimed"] = .unsigned(group.untimed) }
        if group.uncounted > 0 { members["uncounted"] = .unsigned(group.uncounted) }
        if let type = group.key.faultType { members["faultType"] = .string("\(type)") }
        if let source = group.key.source { members["source"] = .string("\(source)") }
        if let type = group.key.statementType { members["statementType"] = .string("\(type)") }
        if group.key.kind == .batch { members["fetchSite"] = SiteJSON.value(group.key.fetchSite) }
        if case .shape(let shape) = group.key.subject { members["shape"] = self.shape(shape) }
        return .sorted(members)
    }

    static func shape(_ shape: ShapeEntry) -> JSONValue {
        var members: [String: JSONValue] = [
            "entity": .string(shape.entity), "predicate": .string(shape.predicate),
            "sort": .array(shape.sort.map { .string($0) }), "prefetch": .array(shape.prefetch.map { .string($0) }),
            "isLimited": .bool(shape.isLimited), "resultType": .string(shape.resultType),
            "terms": shape.terms.map { .array($0.map(term)) } ?? .null,
        ]
        if let expressions = shape.expressions { members["expressions"] = .array(expressions.map { .string($0) }) }
        if let groups = shape.groups { members["groups"] = .array(groups.map { .string($0) }) }
        if let having = shape.having { members["having"] = .string(having) }
        if let values = shape.includesPropertyValues { members["includesPropertyValues"] = .bool(values) }
        return .sorted(members)
    }

    private static func term(_ term: ShapeEntry.Term) -> JSONValue {
        .sorted([
            "keyPath": .string(term.keyPath), "operation": .string(term.operation), "operand": .string(term.operand),
            "options": .optional(term.options), "wildcards": .optional(term.wildcards),
            "isAlternative": .bool(term.isAlternative == true), "isNegated": .bool(term.isNegated == true),
        ])
    }

    private static func counts(_ counts: EventGroup.Counts) -> JSONValue {
        .sorted(
            Dictionary(
                uniqueKeysWithValues: EventGroup.Counts.fields.map { ($0.name, .unsigned(counts[keyPath: $0.path])) }))
    }

    // MARK: Sums

    /// The sums of groups by name and kind, with the names in alphabetical order.
    static func sums(_ groups: [EventGroup], by name: (EventGroup.Key) -> String?) -> JSONValue {
        struct ScopedKind: Hashable {
            var name: String
            var kind: EventKind
        }
        var durations: [ScopedKind: Distribution] = [:]
        var sums: [ScopedKind: EventGroup.Counts] = [:]
        for group in groups {
            guard let name = name(group.key) else { continue }
            let key = ScopedKind(name: name, kind: group.key.kind)
            durations[key, default: Distribution()].merge(group.durations)
            sums[key, default: EventGroup.Counts()].merge(group.counts)
        }
        let keys = durations.keys.ordered { ($0.name, $0.kind.rawValue) < ($1.name, $1.kind.rawValue) }
        return .array(
            keys.map { key in
                .sorted([
                    "name": .string(key.name), "kind": .string(key.kind.name),
                    "durations": DistributionJSON.value(durations[key] ?? Distribution()),
                    "counts": counts(sums[key] ?? EventGroup.Counts()),
                ])
            })
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

/// The use of results as JSON.
enum ResultJSON {
    static func value(_ fetch: FetchProfile, _ costs: CostModel) -> JSONValue {
        .sorted([
            "growth": Growth(fetch, costs: costs).map(growth) ?? .null, "shape": GroupJSON.shape(fetch.key.shape),
            "site": SiteJSON.value(fetch.key.site),
            "uses": .array(fetch.uses.ordered(on: \.key).map { use(UInt64($0.key), $0.value) }),
            "properties": .array(properties(fetch)),
        ])
    }

    /// The time of one fetch in nanoseconds: now, and with ten and a hundred times the rows.
    private static func growth(_ growth: Growth) -> JSONValue {
        .sorted([
            "order": .string(growth.order.rawValue), "rows": .number(growth.rows),
            "now": FindingJSON.range(growth.now), "tenfold": FindingJSON.range(growth.time(with: 10)),
            "hundredfold": FindingJSON.range(growth.time(with: 100)),
        ])
    }

    private static func use(_ size: UInt64, _ use: ResultUse) -> JSONValue {
        let windows = use.windows.flatMap { kind, widths in
            widths.map { (kind: kind.map { "\($0)" } ?? "pauses", rows: $0.key, times: $0.value) }
        }
        return .sorted([
            "batchSize": .unsigned(size), "executions": .unsigned(use.executions),
            "untouched": .unsigned(use.untouched),
            "rows": .unsigned(use.rows), "loadedRows": .unsigned(use.loadedRows),
            "touchedRows": .unsigned(use.touchedRows), "batchesLoaded": .unsigned(use.batchesLoaded),
            "countAsked": .unsigned(use.countAsked), "emptinessAsked": .unsigned(use.emptinessAsked),
            "modifiedRows": .unsigned(use.modifiedRows), "bytes": .unsigned(use.bytes),
            "runsLost": .unsigned(use.runsLost),
            "loads": .unsigned(use.loads), "mainThreadLoads": .unsigned(use.mainThreadLoads),
            "windows": .array(
                windows.ordered { ($0.kind, $0.rows) < ($1.kind, $1.rows) }.map { window in
                    .sorted([
                        "scope": .string(window.kind), "rows": .unsigned(window.rows), "times": .unsigned(window.times),
                    ])
                }),
        ])
    }

    private static func properties(_ fetch: FetchProfile) -> [JSONValue] {
        fetch.properties.ordered(on: \.key).flatMap { entity, properties in
            properties.ordered(on: \.key).map { name, use in
                .sorted([
                    "entity": .string(entity), "name": .string(name), "rowsLoaded": .unsigned(use.rowsLoaded),
                    "rowsRead": .unsigned(use.rowsRead), "bytes": .unsigned(use.bytes),
                    "largeRows": .unsigned(use.largeRows),
                ])
            }
        }
    }
}
