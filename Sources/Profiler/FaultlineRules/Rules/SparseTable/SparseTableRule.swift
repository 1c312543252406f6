internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R15: the table of an inheritance tree in which most columns are empty in most rows.
///
/// All entities of a tree share one table, with a column for every property of any of them.
struct SparseTableRule: Rule {
    let id = "R15"
    let name = "Sparse inheritance table"
    let purpose = "Inheritance trees whose table is mostly empty, or is loaded for only one of its entities."
    let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum number of entities below the root, of columns that only some of them have, and the minimum share of
    /// empty values in these.
    static let minimumEntities = Threshold("R15", "minimumEntities", 3, .count, "minimum entities below the root")
    static let minimumColumns = Threshold(
        "R15", "minimumColumns", 10, .count, "minimum columns that only some of them have")
    static let minimumShare = Threshold("R15", "minimumShare", 0.6, .share, "minimum share of NULL values in these")
    /// The minimum share of the store's time spent scanning the table for more than a note.
    static let minimumTimeShare = Threshold(
        "R15", "minimumTimeShare", 0.05, .share, "minimum share of the store's time that scanning the table takes")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let trees = Tree.all(in: profile)
        if !trees.isEmpty { outcome.examined = "\(count: trees.count, "inheritance tree")" }
        outcome.findings =
            trees.compactMap { finding($0, profile) }
            + profile.fetches.compactMap { OneKind($0, profile)?.finding(self, profile, costs) }
        return outcome
    }

    /// The entities that share a table, as far as the trace names them.
    struct Tree {
        let root: String
        /// The entities below the root, by name.
        let entities: [EntityEntry]
        /// The columns that the root does not have, with the number of entities that have them.
        let columns: [String: Int]

        static func all(in profile: Profile) -> [Tree] {
            let members = profile.entities.filter { $0.root != nil && $0.root != $0.name }
            return Dictionary(grouping: members) { $0.root ?? "" }.ordered(on: \.key).map { root, entities in
                let shared = Set(profile.entity(root)?.properties.map(\.name) ?? [])
                var columns: [String: Int] = [:]
                for entity in entities {
                    for property in entity.properties where property.type != "toMany" && !shared.contains(property.name)
                    {
                        columns[property.name, default: 0] += 1
                    }
                }
                return Tree(root: root, entities: entities.ordered(on: \.name), columns: columns)
            }
        }

        /// The share of empty values in the columns that not all entities have, if there are as many objects of each
        /// entity.
        var emptyShare: Double {
            let count = Double(entities.count)
            let filled = columns.values.reduce(0) { $0 + Double($1) / count }
            return columns.isEmpty ? 0 : 1 - filled / Double(columns.count)
        }
    }

    private func finding(_ tree: Tree, _ profile: Profile) -> Finding? {
        guard tree.entities.count >= Self.minimumEntities.count, tree.columns.count >= Self.minimumColumns.count,
            tree.emptyShare >= Self.minimumShare.value
        else { return nil }
        let names = Set(tree.entities.map(\.name) + [tree.root])
        let fetches = profile.fetches.filter { names.contains($0.key.shape.entity) }
        let scans = fetches.filter { $0.counts.fullScanSteps > 0 }.longestFirst
        let time = scans.reduce(0) { $0 + Double($1.counts.time) }
        let share = time / Double(max(1, profile.totals.storeTime))
        let saved = time * tree.emptyShare / 2
        let entities = tree.entities.map { "\(entity: $0.name)" as Wording }.joined(separator: ", ")
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Give the subentities of \(entity: tree.root) tables of their own: they share few properties",
            change: scans.first?.key.site,
            severity: min(Severity.warning, Severity.of(share, warning: Self.minimumTimeShare.value, error: 0.5)),
            fix:
                "Entities without a common parent have tables of their own. Properties that they share can move to a "
                + "related entity. To fetch one kind of object, fetch its entity, not the parent.",
            saving: Saving(time: .init(median: saved, low: 0, high: saved * 2)),
            confidence: .low("the time that empty columns take is assumed"),
            signature: [id, tree.root].joined(separator: "|"))
        finding.scopes = scans.first?.counts.scopes.names ?? []
        finding.explanation = [
            "\(count: tree.entities.count) entities share the table of \(entity: tree.root): \(entities). In the "
                + "\(count: tree.columns.count) columns that not all of them have, about \(percent: tree.emptyShare) "
                + "of the values are empty if there are as many objects of each entity; \"faultline inspect\" counts "
                + "them in a store.",
            "Scanning the table takes \(duration: time), \(percent: share) of the store's time.",
        ]
        finding.evidence = [
            Evidence("entities", Double(tree.entities.count), .count),
            Evidence("columns", Double(tree.columns.count), .count),
            Evidence("emptyShare", tree.emptyShare, .share), Evidence("scanTime", time, .nanoseconds),
        ]
        finding.claims = scans.map { Claim.loads($0.key, profile) }
        if share < Self.minimumTimeShare.value {
            finding.downgrade(
                "Scanning the table takes less than \(threshold: Self.minimumTimeShare) of the store's time.")
        }
        return finding
    }
}

extension SparseTableRule {
    var needs: Set<TraceGap.Kind> { [.model] }

    var thresholds: [Threshold] {
        [
            Self.minimumEntities, Self.minimumColumns, Self.minimumShare, Self.minimumTimeShare, OneKind.minimumRows,
            OneKind.usedShare,
        ]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R15 reports an inheritance tree with at least \(SparseTableRule.minimumEntities.count) entities below "
                + "its root and at least \(SparseTableRule.minimumColumns.count) columns that not all of them have, if "
                + "at least \(Phrase.percent(SparseTableRule.minimumShare.value)) of the values in these are empty. It "
                + "also reports fetches of the root that loaded at least \(OneKind.minimumRows.count) rows and visited "
                + "nearly all of them, but read at most \(Phrase.percent(OneKind.usedShare.value)), all of one entity.",
            evidence:
                "The finding gives the entities, the columns, the share of empty values, and the time of fetches that "
                + "scanned the table.",
            fix:
                "Put entities that share few properties into separate tables, which means no common parent, and move "
                + "the shared properties to a related entity. If only one entity is used, fetch that entity.",
            saving: "The saving is half of the empty share of these fetches' time, or the cost of the unread rows.",
            guards: [
                "The trace has no row counts, so R15 assumes as many rows of each entity. \"faultline inspect\" "
                    + "counts them.",
                "A mostly empty table is a note if scanning it takes less than "
                    + "\(Phrase.percent(SparseTableRule.minimumTimeShare.value)) of the store's time. R15 never "
                    + "reports more than a warning.",
                "R15 ignores results that are limited, or still in use at the end.",
            ])
    }
}
