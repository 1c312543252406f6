internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R16: objects that are split over two entities, although the program always uses both.
struct FoldedEntityRule: Rule {
    let id = "R16"
    let name = "Over-normalization"
    let purpose = "Entities in a one-to-one relationship that are always used together."
    let kinds: Set<EventKind> = [.fetch, .fault]

    /// The minimum number of used objects, and the minimum share of them that used the destination, to report a pair.
    static let minimumRows = Threshold("R16", "minimumRows", 50, .count, "minimum used objects")
    static let minimumShare = Threshold(
        "R16", "minimumShare", 0.9, .share, "minimum share of them that read their destination object")
    /// The minimum share of the store's time that is spent following the relationship.
    static let minimumTimeShare = Threshold(
        "R16", "minimumTimeShare", 0.05, .share, "minimum share of the store's time that reaching it takes")
    /// The size, in bytes, from which an object may be kept apart on purpose.
    static let largestSize = Threshold(
        "R16", "largestSize", 2048.0, .size, "minimum size of an object that is rightly kept apart")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let pairs = Self.pairs(profile)
        if !pairs.isEmpty {
            outcome.examined =
                "\(count: pairs.count, "to-one relationship that fired", plural: "to-one relationships that fired")"
        }
        outcome.findings = pairs.compactMap { finding($0, profile, costs) }
        return outcome
    }

    /// Two entities that a to-one relationship joins, and how often they were used together.
    struct Pair {
        var edge: FetchProfile.Edge
        var destination: EntityEntry
        /// Whether the destination has as many objects as the owner, or `nil` if the trace does not have the sizes of
        /// their tables.
        var areAsMany: Bool?
        /// The number of used objects of the relationship's entity, and of times the relationship fired on them.
        var used: UInt64 = 0
        var fired: UInt64 = 0
        /// The number of distinct destination objects that were loaded over the relationship, and of their owners.
        var targets: UInt64 = 0
        var owners: UInt64 = 0
        /// The bytes of destination objects that came from the store, and the number of these objects.
        var bytes: UInt64 = 0
        var filled: UInt64 = 0
        /// The time of faults and prefetching, in nanoseconds, and their trips.
        var time: UInt64 = 0
        var trips: UInt64 = 0
        /// The fetches whose objects the relationship fired on, the most frequent first.
        var fetches: [FetchProfile] = []
        /// The time of faults that R01 may claim too.
        var claims: [Claim] = []

        /// The smaller of two shares: used objects that read the destination, and distinct destinations per owner.
        ///
        /// If both are near 1, each object has its own destination and needs it.
        var share: Double {
            min(1, Double(fired) / Double(max(1, used)), Double(targets) / Double(max(1, owners)))
        }

        /// Adds a fetch on whose objects the relationship fired.
        ///
        /// - Parameters:
        ///   - members: The relationship of the entity and of the entities that inherit it.
        ///   - touched: The number of owners that were used.
        ///   - loaded: The number of owners that the fetch loaded.
        ///   - path: The key path to prefetch, or `nil` if unknown.
        mutating func add(
            _ fetch: FetchProfile, _ members: [FetchProfile.Edge], used touched: UInt64, loaded: UInt64, path: String?
        ) {
            used &+= touched
            fired &+= members.reduce(0) { $0 &+ (fetch.firedRelationships[$1] ?? 0) }
            targets &+= members.reduce(0) { $0 &+ (fetch.firstFirings[$1] ?? 0) }
            if let prefetch = path.flatMap(fetch.readPrefetch) {
                owners &+= loaded
                time &+= prefetch.time
                trips &+= prefetch.trips
                targets &+= prefetch.rows
                bytes &+= prefetch.bytes
                filled &+= prefetch.rows
            } else {
                owners &+= touched
            }
            fetches.append(fetch)
        }

        /// The mean size of a destination object, in bytes.
        var size: Double { Double(bytes) / Double(max(1, filled)) }
    }

    static func pairs(_ profile: Profile) -> [Pair] {
        var pairs: [FetchProfile.Edge: Pair] = [:]
        let sizes = profile.tableRows
        let families = RelationshipFamilies(profile)
        for fetch in profile.fetches {
            // An inherited relationship counts as the relationship of the entity that declares it.
            for (edge, members) in families.grouped(fetch.firedRelationships.keys) {
                guard
                    let property = profile.entity(edge.entity)?.property(edge.name),
                    property.type == "toOne", let name = property.destination, name != edge.entity,
                    let destination = profile.entity(name),
                    let owners = owners(of: edge, members, fetch, profile, families),
                    profile.entity(edge.entity)?.hasMembers(of: name) != true
                else { continue }
                // A few out of many objects rarely share a destination, even if many others do. So the tables' sizes
                // must confirm the pair if the objects came from fetches of other entities, or if the model lets
                // several owners share a destination.
                let areAsMany = areAsMany(sizes[profile.tree(of: edge.entity)], sizes[profile.tree(of: name)])
                let isOwn = families.inherits(fetch.key.shape.entity, edge)
                guard isOwn && !destination.hasMembers(through: edge.name) || areAsMany == true else { continue }
                var pair = pairs[edge] ?? Pair(edge: edge, destination: destination, areAsMany: areAsMany)
                pair.add(fetch, members, used: owners.used, loaded: owners.loaded, path: owners.path)
                pairs[edge] = pair
            }
        }
        addFaults(profile, families, to: &pairs)
        for edge in pairs.keys {
            pairs[edge]?.fetches.sort { ($0.counts.rows, $1.key.sortText) > ($1.counts.rows, $0.key.sortText) }
        }
        return pairs.values.ordered(on: \.edge.sortText)
    }

    /// The number of owners that a fetch led to, and the key path from the fetch to the relationship.
    ///
    /// Owners are the fetch's own rows, or the destinations of one of their to-one relationships. Returns `nil` for
    /// other paths.
    private static func owners(
        of edge: FetchProfile.Edge, _ members: [FetchProfile.Edge], _ fetch: FetchProfile, _ profile: Profile,
        _ families: RelationshipFamilies
    ) -> (used: UInt64, loaded: UInt64, path: String)? {
        let entity = fetch.key.shape.entity
        if families.inherits(entity, edge) {
            return (fetch.total(\.touchedRows), fetch.total(\.loadedRows), edge.name)
        }
        let ways = fetch.firedRelationships.filter { way, _ in
            let property = way.entity == entity ? profile.entity(entity)?.property(way.name) : nil
            return property?.type == "toOne" && property?.destination.map { families.inherits($0, edge) } == true
        }
        guard ways.count == 1, let (way, fired) = ways.first else { return nil }
        // Each object on the path fires once, even if several rows share it.
        return (fired, fetch.readPrefetch(way.name)?.rows ?? fired, "\(way.name).\(edge.name)")
    }

    /// Adds the faults that fired one by one.
    private static func addFaults(
        _ profile: Profile, _ families: RelationshipFamilies, to pairs: inout [FetchProfile.Edge: Pair]
    ) {
        for group in profile.groups where group.key.kind == .fault {
            guard case .relationship(let entity, let name) = group.key.subject else { continue }
            let edge = families.head(of: FetchProfile.Edge(entity: entity, name: name))
            pairs[edge]?.time &+= group.totalTime
            pairs[edge]?.trips &+= group.counts.trips
            pairs[edge]?.bytes &+= group.counts.bytes
            pairs[edge]?.filled &+= group.counts.rows
        }
        for fault in profile.faults {
            guard case .relationship(let entity, let name) = fault.key.subject else { continue }
            pairs[families.head(of: FetchProfile.Edge(entity: entity, name: name))]?.claims.append(
                Claim(FaultDetector.self, fault.key, balance: Double(fault.evidence.time)))
        }
    }

    private func finding(_ pair: Pair, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let storeTime = Double(profile.totals.storeTime)
        guard pair.used >= Self.minimumRows.count, pair.share >= Self.minimumShare.value,
            pair.areAsMany != false, pair.size < Self.largestSize.value,
            Double(pair.time) >= Self.minimumTimeShare.value * storeTime,
            savedApart(pair, profile) <= pair.fired
        else { return nil }
        let saving = costs.store.range { line in
            // The values come with the rows they belong to.
            Double(pair.time) - Double(pair.targets) * line.row / 2
        }
        var finding = Finding(
            rule: id, ruleName: name, title: title(pair), change: pair.fetches[0].key.site,
            severity: min(
                Severity.warning, Severity.of(Double(pair.targets), warning: Self.minimumRows.value, error: 5000)),
            fix:
                "Move the properties that are always read with \(entity: pair.edge.entity) into it, or prefetch "
                + "\(quoted: pair.edge.name) "
                + "with every fetch of it.",
            code: code(pair, profile), saving: Saving(time: Saving.Range(saving)),
            confidence: .low("the cost of the longer rows is assumed"),
            signature: [id, pair.edge.entity, pair.edge.name].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: pair.trips)
        finding.scopes = pair.fetches[0].counts.scopes.names
        finding.explanation = [
            "\(count: pair.used, "object") of \(entity: pair.edge.entity) were used, and \(count: pair.targets) of "
                + "\(entity: pair.destination.name) with them, each from a different one: "
                + "\(duration: pair.time), \(percent: Double(pair.time) / max(1, storeTime)) of the store's time."
        ]
        finding.evidence = [
            Evidence("usedRows", pair.used, .rows), Evidence("targets", pair.targets, .count),
            Evidence("trips", pair.trips, .trips), Evidence("time", pair.time, .nanoseconds),
            Evidence("firingShare", pair.share, .share),
        ]
        finding.claims = pair.claims + pair.fetches.map { Claim.loads($0.key, profile) }
        return finding
    }

    private static func areAsMany(_ owners: UInt64?, _ targets: UInt64?) -> Bool? {
        guard let owners, let targets else { return nil }
        return Double(targets) >= minimumShare.value * Double(owners)
    }

    /// The number of saves that changed a destination object but no owner.
    private func savedApart(_ pair: Pair, _ profile: Profile) -> UInt64 {
        profile.groups.reduce(0) { sum, group in
            guard group.key.kind == .save, case .saved(let names) = group.key.subject else { return sum }
            let trees = Set(names.map { profile.tree(of: $0) })
            let (end, owner) = (profile.tree(of: pair.destination.name), profile.tree(of: pair.edge.entity))
            return trees.contains(end) && !trees.contains(owner) ? sum &+ group.count : sum
        }
    }

    private func title(_ pair: Pair) -> Wording {
        "Fold \(entity: pair.destination.name) into \(entity: pair.edge.entity), which always reads it through "
            + "\(quoted: pair.edge.name)"
    }

    /// The attributes to move, at most six: those that are read, if the trace has them.
    private func code(_ pair: Pair, _ profile: Profile) -> [String] {
        let all = pair.destination.properties.filter { $0.type != "toOne" && $0.type != "toMany" }
        let use = profile.destinationUse(of: pair.edge).flatMap { $0.unrecorded == 0 ? $0 : nil }
        let read = use.map { use in all.filter { use.properties.contains($0.name) } }
        let attributes = read.flatMap { $0.isEmpty ? nil : $0 } ?? all
        return attributes.prefix(6).map { "\(pair.edge.entity).\($0.name): \($0.type)" }
    }
}

extension EntityEntry {
    /// Whether a to-many relationship has the same destination, as a channel's newest message is also one of its
    /// messages.
    ///
    /// There are then more of these objects than a to-one relationship can refer to.
    fileprivate func hasMembers(of entity: String) -> Bool {
        properties.contains { $0.type == "toMany" && $0.destination == entity }
    }

    /// Whether a to-one relationship to this entity has a to-many inverse.
    fileprivate func hasMembers(through relationship: String) -> Bool {
        properties.contains { $0.type == "toMany" && $0.inverse == relationship }
    }
}

extension FoldedEntityRule {
    var needs: Set<TraceGap.Kind> { [.model] }

    var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumShare, Self.minimumTimeShare, Self.largestSize]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R16 reports a to-one relationship with at least \(Phrase.count(FoldedEntityRule.minimumRows.count)) "
                + "used source objects, of which at least \(Phrase.percent(FoldedEntityRule.minimumShare.value)) read "
                + "their destination object, each a different one; the same holds for relationships of those "
                + "destinations. Faults and prefetches over it take at least "
                + "\(Phrase.percent(FoldedEntityRule.minimumTimeShare.value)) of the store's time.",
            evidence:
                "The finding gives the source objects that were used, the destination objects that were loaded through "
                + "the relationship, the trips and the time.",
            fix:
                "Move the destination's attributes to the entity that always reads them, or prefetch it in every fetch.",
            saving:
                "The saving is the time of those faults and prefetches, minus half the cost of a row for each object "
                + "whose values are then loaded with it.",
            guards: [
                "A relationship that entities inherit counts as one, at the entity that declares it.",
                "If the trace has both table sizes and the destination table has fewer rows, its objects are shared, and R16 "
                    + "ignores them. For objects that no fetch loaded, and for to-many inverses, both sizes must be known.",
                "If several objects share a destination, R01 advises to prefetch it, and R16 reports nothing.",
                "Objects of at least \(Phrase.size(FoldedEntityRule.largestSize.value)) are rightly kept apart (R09).",
                "A destination that is saved separately from its source more often than it is read with it stays separate.",
                "R16 never reports more than a warning, because a model can have other reasons for separate entities.",
            ])
    }
}
