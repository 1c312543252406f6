internal import FaultlineTrace

/// R16: objects that are split over two entities, although whoever uses the one uses the other.
public struct FoldedEntityRule: Rule {
    public let id = "R16"
    public let name = "Over-normalisation"
    public let purpose = "Entities that are one to one, and always used together."

    /// The minimum number of used objects, and the minimum share of them that used the other end, to report a pair.
    static let minimumRows = Threshold("R16", "minimumRows", 50, .count, "minimum used objects")
    static let minimumShare = Threshold(
        "R16", "minimumShare", 0.9, .share, "minimum share of them that read their destination object")
    /// The share of the store's time that the way from one to the other must take.
    static let minimumTimeShare = Threshold(
        "R16", "minimumTimeShare", 0.05, .share, "minimum share of the store's time that reaching it takes")
    /// Bytes of an object that is kept apart for its size.
    static let largestSize = Threshold(
        "R16", "largestSize", 2048.0, .size, "minimum size of an object that is rightly kept apart")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let pairs = Self.pairs(profile)
        if !pairs.isEmpty {
            outcome.examined =
                "\(count: pairs.count, "to-one relationship that fired", plural: "to-one relationships that fired")"
        }
        outcome.findings = pairs.compactMap { finding($0, profile, costs) }
        return outcome
    }

    /// Two entities that a to-one relationship joins, and how much they were used together.
    struct Pair {
        var edge: FetchProfile.Edge
        var destination: EntityEntry
        /// Whether there are as many objects at the end as lead there; `nil`: the trace does not tell how large their tables
        /// are.
        var areAsMany: Bool?
        /// Objects of the relationship's entity that were used, and how often the relationship fired on them.
        var used: UInt64 = 0
        var fired: UInt64 = 0
        /// Different objects at its end, those that came into memory on this way, and how many lead to them.
        var targets: UInt64 = 0
        var owners: UInt64 = 0
        /// Bytes of the objects at the end that came from the store, and how many those were.
        var bytes: UInt64 = 0
        var filled: UInt64 = 0
        /// The time of faults and of prefetching, in nanoseconds, and trips.
        var time: UInt64 = 0
        var trips: UInt64 = 0
        /// Fetches that lead over it, the most frequent first.
        var fetches: [FetchProfile] = []
        /// The time of faults that R01 could take as well.
        var claims: [Claim] = []

        /// How many of the used objects asked for the other end, and how many different ones there are for each that leads
        /// there: if both are near 1, each has its own and needs it.
        var share: Double {
            min(1, Double(fired) / Double(max(1, used)), Double(targets) / Double(max(1, owners)))
        }

        /// Adds a fetch that leads to objects of the relationship's entity, on which it fired.
        ///
        /// - Parameters:
        ///   - members: The relationship of the entity and of those that inherit it.
        ///   - used: How many of them were used, and how many the fetch has loaded.
        ///   - path: The key path to the relationship, as it would be prefetched; `nil`: not known.
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

        /// Bytes of an object at the end.
        var size: Double { Double(bytes) / Double(max(1, filled)) }
    }

    static func pairs(_ profile: Profile) -> [Pair] {
        var pairs: [FetchProfile.Edge: Pair] = [:]
        let sizes = profile.tableRows
        let families = RelationshipFamilies(profile)
        for fetch in profile.fetches {
            // What an entity inherits is one relationship with that of the entity which it inherits it from.
            for (edge, members) in families.grouped(fetch.firedRelationships.keys) {
                guard
                    let property = profile.entity(edge.entity)?.property(edge.name),
                    property.type == "toOne", let name = property.destination, name != edge.entity,
                    let destination = profile.entity(name),
                    let owners = owners(of: edge, members, fetch, profile, families),
                    profile.entity(edge.entity)?.hasMembers(of: name) != true
                else { continue }
                // A few objects out of many seldom share one at the end, however many lead to it: where fetches of others
                // bring them, or the model lets many lead to it, the tables' sizes must speak for it.
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
        return pairs.values.sorted { $0.edge.sortText < $1.edge.sortText }
    }

    /// How many objects of a relationship's entity a fetch has led to, and by which key path it goes on: its own rows, or
    /// those that one to-one relationship of them leads to; `nil`: another way.
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
        // Every object on the way fires once, however many rows share it.
        return (fired, fetch.readPrefetch(way.name)?.rows ?? fired, "\(way.name).\(edge.name)")
    }

    /// Adds what fired one by one.
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
            // The values come along with the rows that they belong to.
            Double(pair.time) - Double(pair.targets) * line.row / 2
        }
        var finding = Finding(
            rule: id, ruleName: name, title: title(pair), change: pair.fetches[0].key.site,
            score: min(
                Score.highestWarning, Score.of(Double(pair.targets), info: Self.minimumRows.value, warning: 5000)),
            fix:
                "Move the properties that are always read with \(entity: pair.edge.entity) into it, or prefetch "
                + "\(quoted: pair.edge.name) "
                + "with every fetch of it.",
            code: code(pair, profile), saving: Saving(time: Saving.Range(saving)), confidence: .low,
            signature: [id, pair.edge.entity, pair.edge.name].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: pair.trips)
        finding.scopes = pair.fetches[0].counts.scopes.names
        finding.explanation = [
            "\(count: pair.used, "object") of \(entity: pair.edge.entity) were used, and \(count: pair.targets) of "
                + "\(entity: pair.destination.name) with them, each from one: "
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

    /// Saves that changed an object at the end and none that leads there.
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

    /// The attributes that move, at most six of them: those that are read, where the trace tells.
    private func code(_ pair: Pair, _ profile: Profile) -> [String] {
        let all = pair.destination.properties.filter { $0.type != "toOne" && $0.type != "toMany" }
        let use = profile.destinationUse(of: pair.edge).flatMap { $0.untold == 0 ? $0 : nil }
        let read = use.map { use in all.filter { use.properties.contains($0.name) } }
        let attributes = read.flatMap { $0.isEmpty ? nil : $0 } ?? all
        return attributes.prefix(6).map { "\(pair.edge.entity).\($0.name): \($0.type)" }
    }
}

extension EntityEntry {
    /// Whether a to-many relationship leads to an entity too, as the newest message of a channel is one of its messages:
    /// then there are more of these than a to-one relationship leads to.
    fileprivate func hasMembers(of entity: String) -> Bool {
        properties.contains { $0.type == "toMany" && $0.destination == entity }
    }

    /// Whether a to-one relationship that leads to it has a to-many one as its inverse.
    fileprivate func hasMembers(through relationship: String) -> Bool {
        properties.contains { $0.type == "toMany" && $0.inverse == relationship }
    }
}
