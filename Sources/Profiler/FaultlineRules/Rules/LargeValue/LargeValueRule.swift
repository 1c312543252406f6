internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R09: large values in rows that are mostly loaded for their other values.
struct LargeValueRule: Rule {
    let id = "R09"
    let name = "Large values in hot rows"
    let purpose = "Long values that are loaded with rows in which they are never read."
    let kinds: Set<EventKind> = [.fetch, .batch, .fault, .release]

    /// The minimum mean size of a value that is better kept in a file of its own.
    static let fileSize = Threshold(
        "R09", "fileSize", 102_400.0, .size,
        "minimum average size of a value that belongs in a file of its own")
    /// The minimum rows for more than a note, and for any finding.
    static let minimumRows = Threshold("R09", "minimumRows", 100, .count, "minimum rows for more than a note")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        let (candidates, examined) = LargeValue.all(in: profile)
        var outcome = RuleOutcome(findings: candidates.compactMap { finding($0, profile, costs) })
        if examined > 0 {
            outcome.examined = "the values of \(count: UInt64(examined), "property", plural: "properties")"
        }
        return outcome
    }

    private func finding(_ candidate: LargeValue, _ profile: Profile, _ costs: CostModel) -> Finding? {
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
            severity: Severity.of(bytes / Double(unread), warning: 4096, error: 65536), fix: words.fix,
            code: words.code,
            saving: Saving(time: time), confidence: byte.confidence,
            signature: ["R09", "\(candidate.entity).\(candidate.property.name)", "", ""].joined(separator: "|"))
        finding.saving.bytes = Int64(saturating: bytes)
        finding.saving.memory = Int64(saturating: bytes / Double(unread) * Double(largestLoad(candidate, profile)))
        finding.codeLanguage = ""
        finding.claims = claims
        finding.remedy = .moveOut(
            entity: candidate.entity, properties: [candidate.property.name], candidate.fetches)
        finding.seenAt = candidate.fetches.map { key in
            let use = profile.fetch(key)?.properties[candidate.entity]?[candidate.property.name]
            return Finding.Sighting(site: key.site, count: use?.rowsLoaded ?? 0, time: 0)
        }.ordered { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
        finding.alternatives = [
            "List the other properties in \(code: "propertiesToFetch")."
        ]
        finding.evidence = words.numbers
        finding.explanation = words.explanation
        if !Significance.isMet(saving: time.median, wallTime: profile.wallTime, isMainThread: false) {
            // Few rows that take long are not few.
            if candidate.all.rowsLoaded < Self.minimumRows.count {
                finding.downgrade("Fewer than \(count: Self.minimumRows.count, of: .rows) rows were loaded with it.")
            }
            if bytes < LargeValue.structuralBytes {
                finding.downgrade(Significance.notProven(of: "the recorded time"))
            }
        }
        return finding
    }

    /// The cost of bytes that are never read, at most 90 % of the fetches' time.
    private func time(
        in candidate: LargeValue, spent: Double,
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

    /// The cost of a byte in the fetch that loads the most bytes.
    private func byteCost(
        _ candidate: LargeValue, _ profile: Profile, _ costs: CostModel
    ) -> (cost: Double, factor: Double, confidence: Confidence) {
        let sizes = candidate.fetches.map { key in
            let properties = profile.fetch(key)?.properties[candidate.entity] ?? [:]
            let rows = properties.values.map(\.rowsLoaded).max() ?? 0
            return (key: key, bytes: properties.values.reduce(0) { $0 &+ $1.bytes }, rows: rows)
        }
        guard let most = sizes.max(by: { ($0.bytes, $1.key.sortText) < ($1.bytes, $0.key.sortText) }), most.rows > 0
        else {
            return (costs.byte, 4, .low(CostModel.byteAssumed))
        }
        return costs.byte(of: most.key.shape, rowSize: Double(most.bytes) / Double(most.rows))
    }

    /// The most rows that one of the fetches loads at a time.
    private func largestLoad(_ candidate: LargeValue, _ profile: Profile) -> UInt64 {
        let loads = candidate.fetches.compactMap { profile.fetch($0) }.flatMap(\.uses).map { size, use in
            size == 0 ? use.maximumRows : min(UInt64(size), use.maximumRows)
        }
        return loads.max() ?? 1
    }
}

extension LargeValueRule {
    var needs: Set<TraceGap.Kind> { [.sizes] }

    var thresholds: [Threshold] {
        [LargeValue.minimumSize, Self.fileSize, LargeValue.minimumLargeShare, LargeValue.readShare, Self.minimumRows]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R09 reports an attribute with at least 16 KiB in more than \(LargeValue.minimumLargeShare.text) of "
                + "its values, in at least \(LargeValue.minimumRows) rows of fetches that mostly do not read it.",
            evidence:
                "The finding gives the rows that were loaded with the attribute, the rows in which it was read, the "
                + "share of large values, and the bytes.",
            fix:
                "Move the value into an entity of its own or, from an average size of "
                + "\(LargeValueRule.fileSize.text), into files (external storage). Or make the attribute the last "
                + "column, and list the properties to load in the fetches.",
            saving:
                "The saving is the part of the loading time that the unread bytes and their pages took, by the costs "
                + "that `record` measured on the machine. Without these, or if SQLite scans or sorts, it is the number "
                + "of bytes times the cost per byte, fitted to rows of different lengths or assumed.",
            guards: [
                "R09 ignores attributes whose values are already stored in files.",
                "It ignores values that every fetch reads.",
                "The finding is a note if fewer than \(Phrase.count(LargeValueRule.minimumRows.count)) rows were loaded, and it saves little time.",
                "If the cost per byte was not measured, the confidence is low.",
            ])
    }
}
