internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// A fetch of a whole inheritance tree by a program that uses only the objects of one entity.
///
/// The trace does not show which entity each row belongs to. But an object's fault names its own entity when it is
/// first read.
struct OneKind {
    let fetch: FetchProfile
    /// The entity whose objects were read, and their number.
    let entity: String
    let read: UInt64
    let loaded: UInt64

    /// The minimum rows of all results together.
    static let minimumRows = Threshold(
        "R15", "minimumRows", 50, .count, "minimum rows of a tree of which one entity's are used")
    /// The minimum share of rows that were touched, and the maximum share of rows that were read.
    static let lookedShare = 0.9
    static let usedShare = Threshold(
        "R15", "usedShare", 0.5, .share, "maximum share of rows that belong to the entity that is used")

    /// Returns `nil` for any other fetch.
    init?(_ fetch: FetchProfile, _ profile: Profile) {
        let shape = fetch.key.shape
        guard shape.resultType == "objects", !shape.isLimited,
            fetch.readEntities.count == 1, let (entity, read) = fetch.readEntities.first, entity != shape.entity
        else { return nil }
        let kinds = profile.entities.filter { $0.root == shape.entity && $0.name != shape.entity }
        guard UInt64(kinds.count) >= SparseTableRule.minimumEntities.count, kinds.contains(where: { $0.name == entity })
        else { return nil }
        (self.fetch, self.entity, self.read) = (fetch, entity, read)
        loaded = fetch.total(\.loadedRows)
        // Other rules report rows that were never touched, and open results may still be read.
        guard loaded >= Self.minimumRows.count, fetch.total(\.openExecutions) == 0,
            Double(fetch.total(\.touchedRows)) >= Self.lookedShare * Double(loaded),
            Double(read) <= Self.usedShare.value * Double(loaded)
        else { return nil }
    }

    func finding(_ rule: SparseTableRule, _ profile: Profile, _ costs: CostModel) -> Finding {
        let root = fetch.key.shape.entity
        let unused = loaded - min(loaded, read)
        let estimate = costs.rows(of: fetch.key.shape)
        let range = estimate.range { $0.cost(trips: 0, rows: Double(unused)) }
        let executions = max(1, fetch.total(\.executions))
        var finding = Finding(
            rule: rule.id, ruleName: rule.name,
            title: "Fetch \(entity: entity), not \(entity: root): no other objects are read",
            change: fetch.key.site,
            severity: min(
                Severity.warning,
                Severity.of(Double(unused) / Double(executions), warning: Self.minimumRows.value / 2, error: 5000)),
            fix:
                "A fetch of an entity loads only its own rows and those of its subentities.",
            code: ["FetchRequest<\(entity)>(…)"], saving: Saving(time: Saving.Range(range)),
            confidence: min(.medium("other runs may use the other entities"), estimate.confidence),
            signature: fetch.signature(rule.id, entity))
        finding.saving.rows = Int64(clamping: unused)
        finding.seenAt = fetch.readers
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = [
            "\(count: executions, "fetch", plural: "fetches") loaded \(rows: loaded) of \(entity: root) and "
                + "its subentities; \(count: read, of: .rows) were read, all of them of \(entity: entity)."
        ]
        finding.evidence = [
            Evidence("executions", executions, .count), Evidence("loadedRows", loaded, .rows),
            Evidence("readRows", read, .rows),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: range.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
                isMainThread: fetch.isOnMainThread),
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded), of: "rows")
        return finding
    }
}
