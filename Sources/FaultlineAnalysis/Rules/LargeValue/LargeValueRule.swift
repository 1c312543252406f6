internal import FaultlineTrace

/// R09: long values in rows that are mostly loaded for something else.
public struct LargeValueRule: Rule {
    public let id = "R09"
    public let name = "Large values in hot rows"
    public let purpose = "Long values that are loaded with rows in which they are never read."

    static let largeValue = Threshold("R09", "largeValue", 16384.0, .size, "minimum average size of a large value")
    /// The minimum mean size of a value that is better kept in a file of its own.
    static let fileSize = Threshold(
        "R09", "fileSize", 102_400.0, .size,
        "minimum average size of a value that belongs in a file of its own")
    /// The share of loaded values that must be large.
    static let minimumLargeShare = Threshold(
        "R09", "largeShare", 0.05, .share, "minimum share of values of at least 16 KiB")
    /// The share of rows in which a fetch must read the property to count as one that needs it.
    static let readShare = Threshold(
        "R09", "readShare", 0.25, .share,
        "minimum share of rows in which a fetch reads the value to count as needing it")
    /// The minimum rows for more than a note, and for any finding.
    static let minimumRows = Threshold("R09", "minimumRows", 100, .count, "minimum rows for more than a note")
    static let fewestRows: UInt64 = 10

    /// What is known of one property, and of the fetches that load it without reading it.
    struct Candidate: Sendable {
        var entity: String
        var property: EntityEntry.Property
        var all = PropertyUse()
        /// Of the fetches that mostly do not read it.
        var hot = PropertyUse()
        var fetches: [FetchProfile.Key] = []
        /// Bytes of all properties of the entity.
        var entityBytes: UInt64 = 0

        var mean: Double { all.rowsLoaded == 0 ? 0 : Double(all.bytes) / Double(all.rowsLoaded) }
        /// Rows that were loaded with it for nothing.
        var unread: UInt64 { hot.rowsLoaded - min(hot.rowsLoaded, hot.rowsRead) }
        var largeShare: Double { all.rowsLoaded == 0 ? 0 : Double(all.largeRows) / Double(all.rowsLoaded) }
    }

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        let (candidates, examined) = Self.candidates(profile)
        var outcome = RuleOutcome(findings: candidates.compactMap { finding($0, profile, costs) })
        if examined > 0 {
            outcome.examined = "the values of \(count: UInt64(examined), "property", plural: "properties")"
        }
        return outcome
    }

    /// The properties that the rule names, as `"Item.photo"`.
    static func named(in profile: Profile) -> Set<String> {
        Set(candidates(profile).candidates.filter { $0.unread > 0 }.map { "\($0.entity).\($0.property.name)" })
    }

    private static func candidates(_ profile: Profile) -> (candidates: [Candidate], examined: Int) {
        var found: [String: Candidate] = [:]
        var entityBytes: [String: UInt64] = [:]
        var examined: Set<String> = []
        for fetch in profile.fetches {
            for (entity, properties) in fetch.properties {
                let declared = profile.entity(entity)?.properties ?? []
                for (name, use) in properties {
                    let key = "\(entity).\(name)"
                    examined.insert(key)
                    entityBytes[entity, default: 0] &+= use.bytes
                    guard let property = declared.first(where: { $0.name == name }),
                        ["Binary", "String", "Transformable"].contains(property.type), property.isExternal != true
                    else { continue }
                    var candidate = found[key] ?? Candidate(entity: entity, property: property)
                    candidate.all.merge(use)
                    if Double(use.rowsRead) < readShare.value * Double(use.rowsLoaded) {
                        candidate.hot.merge(use)
                        candidate.fetches.append(fetch.key)
                    }
                    found[key] = candidate
                }
            }
        }
        let candidates = found.sorted { $0.key < $1.key }.map { _, candidate in
            var candidate = candidate
            candidate.entityBytes = entityBytes[candidate.entity] ?? 0
            return candidate
        }
        return (candidates.filter(isLarge), examined.count)
    }

    private static func isLarge(_ candidate: Candidate) -> Bool {
        guard candidate.all.rowsLoaded >= fewestRows, candidate.hot.rowsLoaded > 0 else { return false }
        // Values of 16 KiB are counted; longer ones are told by their mean.
        let isCounted = largeValue.value <= largeValue.standard || candidate.mean >= largeValue.value
        if isCounted, candidate.largeShare > minimumLargeShare.value { return true }
        return candidate.mean >= largeValue.value && Double(candidate.all.bytes) >= 0.25 * Double(candidate.entityBytes)
    }

    private func finding(_ candidate: Candidate, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let unread = candidate.unread
        guard unread > 0 else { return nil }
        let bytes = Double(candidate.hot.bytes) * Double(unread) / Double(candidate.hot.rowsLoaded)
        let claims = candidate.fetches.map { Claim.loads($0, profile) }
        let spent = claims.reduce(0) { $0 + $1.balance }
        let byte = byteCost(candidate, profile, costs)
        let time = time(in: candidate, spent: spent, byte, profile, costs.machine)
        let words = LargeValueAdvice(candidate: candidate)
        var finding = Finding(
            rule: id, ruleName: name, title: words.title, change: words.declaration,
            score: Score.of(bytes / Double(unread), info: 4096, warning: 65536), fix: words.fix, code: words.code,
            saving: Saving(time: time), confidence: byte.confidence,
            signature: ["R09", "\(candidate.entity).\(candidate.property.name)", "", ""].joined(separator: "|"))
        finding.saving.bytes = Int64(saturating: bytes)
        finding.saving.memory = Int64(saturating: bytes / Double(unread) * Double(largestLoad(candidate, profile)))
        finding.claims = claims
        finding.remedy = .moveOut(
            entity: candidate.entity, properties: [candidate.property.name], candidate.fetches)
        finding.seenAt = candidate.fetches.map { key in
            let use = profile.fetch(key)?.properties[candidate.entity]?[candidate.property.name]
            return Finding.Sighting(site: key.site, count: use?.rowsLoaded ?? 0, time: 0)
        }.sorted { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
        finding.alternatives = [
            "Make it the last column, and list the other columns in \(code: "propertiesToFetch")."
        ]
        finding.evidence = words.numbers
        finding.explanation = words.explanation
        if byte.confidence == .low {
            finding.reservations.append("What a byte costs is a guess: the trace has too few rows of different sizes.")
        }
        if candidate.all.rowsLoaded < Self.minimumRows.count {
            finding.downgrade("Fewer than \(count: Self.minimumRows.count, of: .rows) rows were loaded with it.")
        }
        if !Significance.isMet(saving: time.median, wallTime: profile.wallTime, isMainThread: false),
            bytes < Self.structuralBytes
        {
            finding.downgrade(Significance.notProven(of: "the recorded time"))
        }
        return finding
    }

    /// The cost of bytes that nobody reads, at most 90 % of the fetches' time.
    private func time(
        in candidate: Candidate, spent: Double,
        _ byte: (cost: Double, factor: Double, confidence: Confidence), _ profile: Profile, _ machine: MachineCosts
    ) -> Saving.Range {
        let name = candidate.property.name
        let parts = candidate.fetches.compactMap { profile.fetch($0) }.map { fetch -> Saving.Range in
            let uses = fetch.properties[candidate.entity] ?? [:]
            let rows = Double(uses.values.map(\.rowsLoaded).max() ?? 0)
            let (use, all) = (uses[name] ?? PropertyUse(), Double(uses.values.reduce(0) { $0 &+ $1.bytes }))
            let unread = Double(use.rowsLoaded - min(use.rowsLoaded, use.rowsRead)) / Double(max(1, use.rowsLoaded))
            let long = Double(use.bytes) * unread
            let cost = long * byte.cost
            return fetch.time(ofBytes: long, of: all, rows: rows, byte, machine)
                ?? Saving.Range(median: cost, low: cost / byte.factor, high: cost * byte.factor)
        }
        return Saving.Range(
            median: parts.reduce(0) { $0 + $1.median }, low: parts.reduce(0) { $0 + $1.low },
            high: parts.reduce(0) { $0 + $1.high }
        ).limited(to: spent * 0.9)
    }

    /// What a byte costs in the fetch that loads the most of them.
    private func byteCost(
        _ candidate: Candidate, _ profile: Profile, _ costs: CostModel
    ) -> (cost: Double, factor: Double, confidence: Confidence) {
        let sizes = candidate.fetches.map { key in
            let properties = profile.fetch(key)?.properties[candidate.entity] ?? [:]
            let rows = properties.values.map(\.rowsLoaded).max() ?? 0
            return (key: key, bytes: properties.values.reduce(0) { $0 &+ $1.bytes }, rows: rows)
        }
        guard let most = sizes.max(by: { ($0.bytes, $1.key.sortText) < ($1.bytes, $0.key.sortText) }), most.rows > 0
        else {
            return (costs.byte, 4, .low)
        }
        return costs.byte(of: most.key.shape, rowSize: Double(most.bytes) / Double(most.rows))
    }

    /// The minimum bytes read for nothing for the structure to be a warning, whatever the time was.
    static let structuralBytes = 1_048_576.0

    /// The most rows that one of the fetches loads at a time.
    private func largestLoad(_ candidate: Candidate, _ profile: Profile) -> UInt64 {
        let loads = candidate.fetches.compactMap { profile.fetch($0) }.flatMap(\.uses).map { size, use in
            size == 0 ? use.maximumRows : min(UInt64(size), use.maximumRows)
        }
        return loads.max() ?? 1
    }
}
