internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R03 for values: long values that no fetch of a shape reads.
struct UnreadValues {
    /// The minimum share of a row's bytes that goes unread.
    static let share = Threshold("R03", "unreadShare", 0.3, .share, "minimum unread share of a row's bytes")
    /// The minimum mean size of a value, in bytes.
    ///
    /// Shorter values are on the row's own page, and cost little.
    static let minimumSize = Threshold("R03", "unreadSize", 256.0, .size, "minimum average size of an unread value")
    static let minimumRows: UInt64 = 100
    /// The minimum share of the used rows that had a property read.
    ///
    /// Otherwise the objects may be read where the trace does not show it.
    static let readShare = 0.9

    /// The values of a shape's properties that were loaded and read, from all its lines.
    private var shapes: [ShapeEntry: [String: PropertyUse]] = [:]
    /// The properties that some fetch read.
    private var read: Set<String> = []
    /// The properties that R09 reports.
    private let large: Set<String>

    init(_ profile: Profile) {
        large = LargeValue.unreadNames(in: profile)
        for fetch in profile.fetches {
            for (entity, properties) in fetch.properties {
                for (name, use) in properties {
                    if use.rowsRead > 0 { read.insert("\(entity).\(name)") }
                    guard entity == fetch.key.shape.entity else { continue }
                    shapes[fetch.key.shape, default: [:]][name, default: PropertyUse()].merge(use)
                }
            }
        }
    }

    func finding(
        of fetch: FetchProfile, rule: OverFetchRule, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let shape = fetch.key.shape
        guard shape.terms != nil, ResultDemand(of: fetch) == nil, Self.isRead(fetch) else { return nil }
        let loaded = fetch.properties[shape.entity] ?? [:]
        let unread = unread(shape, loaded, profile)
        let rows = unread.map { loaded[$0]?.rowsLoaded ?? 0 }.max() ?? 0
        let bytes = Double(unread.reduce(0) { $0 &+ (loaded[$1]?.bytes ?? 0) })
        let all = Double(loaded.values.reduce(0) { $0 &+ $1.bytes })
        guard rows >= Self.minimumRows, bytes >= Self.share.value * all else { return nil }
        let claim = Claim.loads(fetch.key, profile)
        let byte = costs.byte(of: shape, rowSize: all / Double(rows))
        let unlimited =
            fetch.time(ofBytes: bytes, of: all, rows: Double(rows), byte, costs.machine)
            ?? Self.saving(bytes / Double(rows), share: bytes / max(1, all), rows, fetch, byte, costs.machine)
        let saving = unlimited.limited(to: claim.balance * 0.9)
        let words = UnreadValueAdvice(entity: shape.entity, properties: unread)
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: words.title, change: fetch.key.site,
            severity: Severity.of(bytes / Double(rows), warning: 256, error: 16384), fix: words.fix,
            code: words.code(profile),
            saving: Saving(time: saving), confidence: byte.confidence,
            signature: fetch.signature(rule.id, unread.joined(separator: ",")))
        finding.saving.bytes = Int64(saturating: bytes)
        finding.seenAt = fetch.readers
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = words.explanation(rows: rows, bytes: bytes, share: bytes / max(1, all))
        finding.evidence = [
            Evidence("rows", rows, .rows), Evidence("unreadBytes", bytes, .bytes), Evidence("bytes", all, .bytes),
            Evidence("unreadShare", bytes / max(1, all), .share),
        ]
        finding.claims = [claim]
        finding.remedy = .moveOut(entity: shape.entity, properties: unread, [fetch.key])
        weigh(&finding, fetch, unread, profile)
        return finding
    }

    /// The assumed cost of a byte in rows that SQLite steps over, in nanoseconds.
    ///
    /// 0.01–0.2 were measured.
    private static let passed = StepCost(usual: 0.12, least: 0.04, most: 0.25)

    /// The assumed remaining costs of a row without long values, in nanoseconds: of stepping over it in a scan, and of
    /// sorting it.
    ///
    /// 20–50 were measured for both, with a limit that keeps few of the sorted rows.
    private static let passedShort = StepCost(usual: 45, least: 30, most: 60)
    private static let sortedShort = StepCost(usual: 45, least: 20, most: 120)

    /// The time that values cost in rows that are loaded, sorted or stepped over, and in the pages that SQLite reads
    /// for them.
    ///
    /// The saving in a scan is at most its time minus the cost of stepping over short rows and sorting them.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the values in a row.
    ///   - share: The share of the row's bytes that they make up.
    ///   - rows: The number of rows whose values were examined.
    private static func saving(
        _ bytes: Double, share: Double, _ rows: UInt64, _ fetch: FetchProfile,
        _ byte: (cost: Double, factor: Double, confidence: Confidence), _ machine: MachineCosts
    ) -> Saving.Range {
        let counts = fetch.counts
        let (passed, page) = (machine.cost(.passedByte, assumed: passed), machine.page)
        let (passedShort, sortedShort) = (
            machine.cost(.passedRow, assumed: passedShort), machine.cost(.sortedRow, assumed: sortedShort)
        )
        let loaded = Double(max(rows, counts.rows))
        let sorted = max(0, Double(counts.sortedRows) - loaded)
        let scanned = max(0, Double(counts.fullScanSteps) - loaded)
        let pages = share * Double(counts.pageMisses)
        let scan = fetch.scanTime(machine)
        // A row that is sorted and returned goes through the sorter with all its columns.
        let carried = bytes * min(Double(counts.sortedRows), loaded)
        let sorting = CostModel.sortedByte
        let saved = {
            (
                loading: Double, sorting: Double, passing: Double, page: Double, scan: Double,
                short: (passed: Double, sorted: Double)
            ) in
            let avoided = bytes * (sorted * loading + scanned * passing) + pages * page
            let kept = scanned * short.passed + sorted * short.sorted
            let most = counts.isSplit && scanned > 0 ? max(0, scan - kept) : avoided
            return bytes * loaded * loading + carried * sorting + min(avoided, most)
        }
        return Saving.Range(
            median: saved(
                byte.cost, sorting.usual, passed.usual, page.usual, scan.usual, (passedShort.usual, sortedShort.usual)),
            low: saved(
                byte.cost / byte.factor, sorting.least, passed.least, page.least, scan.least,
                (passedShort.most, sortedShort.most)),
            high: saved(
                byte.cost * byte.factor, sorting.most, passed.most, page.most, scan.most,
                (passedShort.least, sortedShort.least)))
    }

    /// The long properties that no fetch of the shape reads, the longest first.
    private func unread(_ shape: ShapeEntry, _ loaded: [String: PropertyUse], _ profile: Profile) -> [String] {
        let declared = profile.entity(shape.entity)?.properties ?? []
        return loaded.filter { name, use in
            guard let property = declared.first(where: { $0.name == name }) else { return false }
            return ["Binary", "String", "Transformable", "URI"].contains(property.type) && property.isExternal != true
                && Double(use.bytes) >= Self.minimumSize.value * Double(max(1, use.rowsLoaded))
                && (shapes[shape]?[name]?.rowsRead ?? 0) == 0
                && !large.contains("\(shape.entity).\(name)")
        }.ordered { ($0.value.bytes, $1.key) > ($1.value.bytes, $0.key) }.map(\.key)
    }

    /// Whether the trace shows which values were read: the objects were released unchanged, and nearly every used object
    /// had a property read.
    private static func isRead(_ fetch: FetchProfile) -> Bool {
        let uses = fetch.uses.values
        let executions = uses.reduce(0) { $0 &+ $1.executions }
        let open = uses.reduce(0) { $0 &+ $1.openExecutions }
        let touched = uses.reduce(0) { $0 &+ $1.touchedRows }
        let read = (fetch.properties[fetch.key.shape.entity] ?? [:]).values.map(\.rowsRead).max() ?? 0
        return touched > 0 && uses.allSatisfy { $0.modifiedRows == 0 }
            && Double(open) <= (1 - ResultDemand.share.value) * Double(executions)
            && Double(read) >= readShare * Double(touched)
    }

    private func weigh(_ finding: inout Finding, _ fetch: FetchProfile, _ unread: [String], _ profile: Profile) {
        if unread.contains(where: { read.contains("\(fetch.key.shape.entity).\($0)") }) {
            finding.reservations.append("Other fetches read it and would have to prefetch it.")
        }
        if !Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
            isMainThread: fetch.isOnMainThread),
            Double(finding.saving.bytes) < LargeValue.structuralBytes
        {
            finding.downgrade(Significance.notProven)
        }
    }
}

/// The wording of R03's findings about values.
private struct UnreadValueAdvice {
    let entity: String
    /// The properties, the longest first.
    let properties: [String]

    private var names: Wording { .properties(properties.map { "\(entity).\($0)" }) }

    var title: Wording { "Keep \(names) out of the rows that this fetch loads" }

    var fix: Wording {
        "Move the properties that are not read here into an entity of their own, with a to-one relationship from "
            + "\(entity: entity), so that they are loaded only when needed."
    }

    func code(_ profile: Profile) -> [String] {
        let declared = profile.entity(entity)?.properties ?? []
        let target = entity + (properties.first.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? "")
        let values = properties.map { name in
            "\(target).\(name): \(declared.first { $0.name == name }?.type ?? "String")"
        }
        let all = ["\(entity).\(properties.first ?? "details"): to-one \(target)"] + values
        return all.map { "// In the model: \($0)" }
    }

    func explanation(rows: UInt64, bytes: Double, share: Double) -> [Wording] {
        [
            "\(properties.count == 1 ? "It was" : "They were") read in none of \(rows: rows), and "
                + "\(properties.count == 1 ? "makes" : "make") up \(percent: share) of the loaded bytes: "
                + "\(size: bytes)."
        ]
    }
}
