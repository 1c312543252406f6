public import FaultlineAnalysis
internal import FaultlineTrace

/// A report as JSON: everything that ``TextReport`` shows, and the tables behind it.
///
/// It is one object with its keys in alphabetical order. Times are in nanoseconds, sizes in bytes, and shares from 0 to
/// 1. Equal analyses give equal bytes.
public struct JSONReport: Sendable {
    /// The version of the report's keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    public static let version = 1

    let analysis: Analysis
    /// The hotspots by another property than kind and line.
    let grouped: GroupedHotspots?

    /// - Parameter grouped: Hotspots by another property, which become the member `hotspots`; `nil` for none.
    public init(_ analysis: Analysis, grouped: GroupedHotspots? = nil) {
        self.analysis = analysis
        self.grouped = grouped
    }

    /// Returns the report, with a trailing line feed.
    public func render() -> String { value().indented + "\n" }

    /// Returns the report as a value.
    ///
    /// - Parameter limit: The maximum number of groups. The default is no limit.
    func value(groups limit: Int = .max) -> JSONValue {
        let profile = analysis.profile
        var members: [String: JSONValue] = [
            "version": .integer(Int64(Self.version)),
            "wallTime": .unsigned(profile.wallTime),
            "recordings": .unsigned(profile.recordingCount),
            "lost": .unsigned(profile.lost),
            "totals": StoreCountsJSON.value(profile.totals),
            "processes": .array(profile.processes.map(Self.process)),
            "programs": .array(profile.programs.map(Self.program)),
            "quality": analysis.quality.map(FindingJSON.value) ?? .null,
            "findings": .array(analysis.findings.map(FindingJSON.value)),
            "checks": .array(analysis.checks.map(Self.check)),
            "costs": costs,
            "cpu": CPUJSON.value(profile),
            "memory": MemoryJSON.value(profile),
            "migrations": MigrationJSON.value(profile),
            "groups": .array(profile.groups.prefix(limit).map(GroupJSON.value)),
            "byEntity": GroupJSON.sums(profile.groups, by: GroupJSON.entity),
            "byRelationship": GroupJSON.sums(profile.groups, by: GroupJSON.relationship),
            "byStatement": GroupJSON.sums(profile.groups, by: GroupJSON.statement),
            "scopes": .array(profile.scopes.map(Self.scope)),
            "results": .array(profile.fetches.map { ResultJSON.value($0, analysis.costs) }),
        ]
        if let grouped { members["hotspots"] = grouped.json }
        return .sorted(members)
    }

    private var costs: JSONValue {
        let store = analysis.costs.store
        return .sorted([
            "basis": .string(store.basis.rawValue), "trip": .number(store.line.trip), "row": .number(store.line.row),
            "byte": .number(analysis.costs.byte), "isByteFitted": .bool(analysis.costs.isByteFitted),
            "trips": .unsigned(store.trips),
        ])
    }

    private static func process(_ process: ProcessSummary) -> JSONValue {
        .sorted([
            "process": .unsigned(UInt64(process.process)), "program": .string(process.program),
            "start": .unsigned(process.start), "end": .unsigned(process.end), "wallTime": .unsigned(process.wallTime),
            "lost": .unsigned(process.lost), "removed": .unsigned(process.removed),
            "threads": .unsigned(process.threads), "isClosed": .bool(process.isClosed),
            "hasEnded": .bool(process.ended != nil), "unwritten": .unsigned(process.ended?.unwritten ?? 0),
            "entriesLost": .unsigned(process.ended?.entriesLost ?? 0),
            "usesLost": .unsigned(process.ended?.usesLost ?? 0), "writing": .unsigned(process.ended?.writing ?? 0),
            "counts": StoreCountsJSON.value(process.counts),
        ])
    }

    private static func program(_ path: String, _ sum: ProgramSummary) -> JSONValue {
        .sorted([
            "program": .string(path), "processes": .unsigned(sum.processes), "unclosed": .unsigned(sum.unclosed),
            "wallTime": .unsigned(sum.wallTime), "lost": .unsigned(sum.lost), "removed": .unsigned(sum.removed),
            "unwritten": .unsigned(sum.unwritten),
            "entriesLost": .unsigned(sum.entriesLost), "usesLost": .unsigned(sum.usesLost),
            "writing": .unsigned(sum.writing), "counts": StoreCountsJSON.value(sum.counts),
        ])
    }

    private static func check(_ check: RuleCheck) -> JSONValue {
        .sorted([
            "rule": .string(check.rule), "name": .string(check.name), "examined": .optional(check.examined?.text),
            "obstacles": .array(check.obstacles.map { .string($0.text) }), "findings": .integer(Int64(check.findings)),
            "isApplicable": .bool(check.isApplicable),
            "missing": .array(check.gaps.map(\.word).sorted().map { .string($0) }),
        ])
    }

    private static func scope(_ scope: ScopeSummary) -> JSONValue {
        .sorted([
            "name": .string(scope.key.name), "kind": .string("\(scope.key.kind)"), "count": .unsigned(scope.count),
            "wallTime": DistributionJSON.value(scope.wallTimes), "storeTime": .unsigned(scope.storeTime),
            "trips": .unsigned(scope.trips), "rows": .unsigned(scope.rows), "mostTrips": .unsigned(scope.mostTrips),
            "mostRows": .unsigned(scope.mostRows),
        ])
    }
}

/// Counts of a store as JSON.
enum StoreCountsJSON {
    static func value(_ counts: ProfileCounts) -> JSONValue {
        let events = counts.events.map { ($0.key.name, JSONValue.unsigned($0.value)) }
        return .sorted([
            "events": .sorted(Dictionary(uniqueKeysWithValues: events)), "eventCount": .unsigned(counts.eventCount),
            "storeTime": .unsigned(counts.storeTime), "mainThreadStoreTime": .unsigned(counts.mainThreadStoreTime),
            "readTrips": .unsigned(counts.readTrips), "reads": .unsigned(counts.reads),
            "outermostReads": .unsigned(counts.outermostReads), "writes": .unsigned(counts.writes),
            "transactions": .unsigned(counts.transactions), "schemaStatements": .unsigned(counts.schemaStatements),
            "claimedTrips": .unsigned(counts.claimedTrips), "rowsLoaded": .unsigned(counts.rowsLoaded),
            "rowsEvicted": .unsigned(counts.rowsEvicted),
            "bytesEvicted": .unsigned(counts.bytesEvicted), "bytesRead": .unsigned(counts.bytesRead),
            "bytesWritten": .unsigned(counts.bytesWritten),
            "overhead": .unsigned(counts.overhead), "eventsWithoutSite": .unsigned(counts.eventsWithoutSite),
            "eventsWithStack": .unsigned(counts.eventsWithStack), "truncatedStacks": .unsigned(counts.truncatedStacks),
            "unresolvedStacks": .unsigned(counts.unresolvedStacks), "openUses": .unsigned(counts.openUses),
            "faultTrips": .unsigned(counts.faultTrips),
            "faultTripsWithoutOrigin": .unsigned(counts.faultTripsWithoutOrigin),
            "faultTripsWithUnknownOrigin": .unsigned(counts.faultTripsWithUnknownOrigin),
            "eventsOutsideScopes": .unsigned(counts.eventsOutsideScopes),
        ])
    }
}

/// Durations as JSON.
enum DistributionJSON {
    static func value(_ durations: Distribution) -> JSONValue {
        .sorted([
            "count": .unsigned(durations.count), "total": .unsigned(durations.total),
            "p50": .unsigned(durations.percentile(50)), "p90": .unsigned(durations.percentile(90)),
            "p99": .unsigned(durations.percentile(99)), "max": .unsigned(durations.maximum),
        ])
    }
}
