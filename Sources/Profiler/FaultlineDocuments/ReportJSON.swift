package import FaultlineFindings
package import FaultlineProfile
public import FaultlineRules
internal import FaultlineTrace

/// A report as JSON: everything that ``TextReport`` shows, and the tables behind it.
///
/// It is one object with its keys in alphabetical order. Times are in nanoseconds, sizes in bytes, and shares from 0 to 1.
public struct ReportJSON: JSONDocument {
    let analysis: Analysis
    /// The hotspots by another property than kind and line.
    let grouped: GroupedHotspots?
    /// The maximum number of groups.
    private let limit: Int

    /// A report with the hotspots by kind and line.
    public init(_ analysis: Analysis) { self.init(analysis, grouped: nil) }

    /// - Parameter grouped: Hotspots by another property, which become the member `hotspots`; `nil` for none.
    package init(_ analysis: Analysis, grouped: GroupedHotspots?) {
        self.init(analysis, grouped: grouped, groups: .max)
    }

    /// - Parameter limit: The maximum number of groups.
    package init(_ analysis: Analysis, grouped: GroupedHotspots? = nil, groups limit: Int) {
        self.analysis = analysis
        self.grouped = grouped
        self.limit = limit
    }

    /// Returns the report, with a trailing line feed.
    ///
    /// Equal analyses give equal bytes.
    public func render() -> String { jsonText }

    private var profile: Profile { analysis.profile }

    package static let name = "report"
    package static let title = "A report"
    package static let summary =
        "The output of `faultline report --format json`. Times are in nanoseconds, sizes in bytes, and shares from 0 to 1."
    package static let members: JSONMembers<ReportJSON> = [
        .init(
            "wallTime", "The time from the first process's start to the last one's end, in nanoseconds.",
            \.profile.wallTime),
        .init("recordings", "The number of traces.", \.profile.recordingCount),
        .init("lost", "Events that were lost because a buffer was full.", \.profile.lost),
        .init("totals", \.profile.totals), .init("processes", \.profile.processes),
        .init("programs") { $0.profile.programs.map { Program(path: $0.path, sum: $0.sum) } },
        .init("quality", "The limits of the trace.", \.analysis.quality),
        .init("findings", "The advice: errors, then warnings, then notes.", \.analysis.findings),
        .init("unexplained", \.analysis.unexplained), .init("checks", \.analysis.checks),
        .init("costs", \.analysis.costs),
        .init("cpu") { SampledCPU($0.profile) },
        .init("migrations", "Migrations of stores, and their parts.") {
            $0.profile.migrations.map { MigrationPart(key: $0.key, evidence: $0.evidence) }
        },
        .init("memory") { SampledMemory($0.profile) },
        .init("groups", "Events by kind, subject and call site.") { Array($0.profile.groups.prefix($0.limit)) },
        .init("byEntity") { NamedGroups.sums($0.profile.groups, by: NamedGroups.entity) },
        .init("byRelationship") { NamedGroups.sums($0.profile.groups, by: NamedGroups.relationship) },
        .init("byStatement") { NamedGroups.sums($0.profile.groups, by: NamedGroups.statement) },
        .init("scopes", \.profile.scopes),
        .init("results", "How the program used the results of fetches.") { report in
            report.profile.fetches.map { ResultUses(fetch: $0, costs: report.analysis.costs) }
        },
        .optional(
            "hotspots", "The hotspots by another property than kind and line; present only with --by.", \.grouped),
    ]

    /// The processes of a program.
    private struct Program: JSONObject {
        let path: String
        let sum: ProgramSummary

        static let members: JSONMembers<Program> = [
            .init("program", "The path of the program.", \.path), .init("processes", \.sum.processes),
            .init("unclosed", "Processes that did not end their recordings.", \.sum.unclosed),
            .init("lost", "Events that were lost because a buffer was full.", \.sum.lost),
            .init("removed", "Earlier events that were removed by --max-size.", \.sum.removed),
            .init("unwritten", "Lines that could not be written.", \.sum.unwritten),
            .init("entriesLost", \.sum.entriesLost), .init("usesLost", \.sum.usesLost),
            .init("writing", "The CPU time of writing the trace, in nanoseconds.", \.sum.writing),
            .init("wallTime", "How long it was recorded, in nanoseconds.", \.sum.wallTime),
            .init("counts", \.sum.counts),
        ]
    }

    /// A migration or a part of one.
    private struct MigrationPart: JSONObject {
        let key: MigrationEvidence.Key
        let evidence: MigrationEvidence

        static let members: JSONMembers<MigrationPart> = [
            .init(
                "stage", "The part of the migration; `whole` for all of it, `step` for a step from version to version.",
                \.key.stage),
            .init("way", "How the store was migrated.", \.key.way),
            .init(
                "name",
                "The store's file for a whole migration; otherwise the entity, the entity mapping or the stage, or empty.",
                \.key.name),
            .init("site", "The line that opened the store, or null if it is not known, and for parts.") {
                $0.key.site?.description
            },
            .init("count", \.evidence.count),
            .init(
                "rows", "Rows that statements processed, or objects that were created or changed.", \.evidence.rows),
            .init("bytes", "The largest size of the store's file, in bytes.", \.evidence.bytes),
            .init("time", "In nanoseconds.", \.evidence.time),
            .init(
                "mainThreadTime", "The part on the main thread, of whole migrations, in nanoseconds.",
                \.evidence.mainThreadTime),
            .init(
                "timeInSQL",
                "The estimated time in SQL, for migrations that could have been inferred, in nanoseconds; otherwise 0.",
                \.evidence.timeInSQL),
            .init("failures", \.evidence.failures),
        ]
    }
}

extension TraceEvent.Migration.Stage: JSONWord {}
extension TraceEvent.Migration.Way: JSONWord {}

extension ProcessSummary: JSONObject {
    package static let members: JSONMembers<ProcessSummary> = [
        .init("process", \.process), .init("program", "The path of the program.", \.program),
        .init("start", "When the recording began, in nanoseconds.", \.start),
        .init("end", "When it ended, in nanoseconds.", \.end), .init("threads", \.threads),
        .init("isClosed", "Whether the process ended its recording itself.", \.isClosed),
        .init("hasEnded") { $0.ended != nil },
        .init("lost", "Events that were lost because a buffer was full.", \.lost),
        .init("removed", "Earlier events that were removed by --max-size.", \.removed),
        .init("unwritten", "Lines that could not be written.") { $0.ended?.unwritten ?? 0 },
        .init("entriesLost") { $0.ended?.entriesLost ?? 0 }, .init("usesLost") { $0.ended?.usesLost ?? 0 },
        .init("writing", "The CPU time of writing the trace, in nanoseconds.") { $0.ended?.writing ?? 0 },
        .init("wallTime", "How long it was recorded, in nanoseconds.", \.wallTime), .init("counts", \.counts),
    ]
}

extension ProfileCounts: JSONObject {
    package static let definition: String? = "storeCounts"
    package static let summary = "Counts of a store; times are in nanoseconds."
    package static let members: JSONMembers<ProfileCounts> = [
        .init("events", "The number of events of each kind that the trace has.", \.events),
        .init("bytesEvicted", \.bytesEvicted), .init("bytesRead", \.bytesRead), .init("bytesWritten", \.bytesWritten),
        .init("claimedTrips", \.claimedTrips), .init("eventCount", \.eventCount),
        .init("eventsOutsideScopes", \.eventsOutsideScopes), .init("eventsWithStack", \.eventsWithStack),
        .init("eventsWithoutSite", \.eventsWithoutSite), .init("faultTrips", \.faultTrips),
        .init("faultTripsWithUnknownOrigin", \.faultTripsWithUnknownOrigin),
        .init("faultTripsWithoutOrigin", \.faultTripsWithoutOrigin),
        .init("mainThreadStoreTime", \.mainThreadStoreTime), .init("openUses", \.openUses),
        .init("outermostReads", \.outermostReads), .init("overhead", \.overhead), .init("readTrips", \.readTrips),
        .init("reads", \.reads), .init("rowsEvicted", \.rowsEvicted), .init("rowsLoaded", \.rowsLoaded),
        .init("schemaStatements", \.schemaStatements), .init("storeTime", \.storeTime),
        .init("transactions", \.transactions), .init("truncatedStacks", \.truncatedStacks),
        .init("unresolvedStacks", \.unresolvedStacks), .init("writes", \.writes),
    ]
}

extension RuleCheck: JSONObject {
    package static let members: JSONMembers<RuleCheck> = [
        .init("rule", \.rule), .init("name", \.name),
        .init("examined", "The data that the rule examined, such as `1,204 faults from the store`.") {
            $0.examined?.text
        },
        .init("findings", \.findings), .init("obstacles") { $0.obstacles.map(\.text) },
        .init("isApplicable", "Whether the rule could evaluate the trace.", \.isApplicable),
        .init("missing", "The data that the rule needs and the trace lacks.") { $0.gaps.map(\.word).sorted() },
    ]
}

extension CostModel: JSONObject {
    package static let members: JSONMembers<CostModel> = [
        .init("basis", "The source of the costs.", \.store.basis),
        .init("trip", "The fixed cost of a trip, in nanoseconds.", \.store.line.trip),
        .init("row", "The cost of a row, in nanoseconds.", \.store.line.row),
        .init("byte", "The cost of a byte, in nanoseconds.", \.byte), .init("isByteFitted", \.isByteFitted),
        .init("trips", \.store.trips),
    ]
}

extension CostModel.Basis: JSONWord {}

extension ScopeSummary: JSONObject {
    package static let members: JSONMembers<ScopeSummary> = [
        .init("name", \.key.name), .init("kind", \.key.kind), .init("count", \.count),
        .init("wallTime", \.wallTimes), .init("storeTime", "The time in the store, in nanoseconds.", \.storeTime),
        .init("trips", \.trips), .init("rows", \.rows),
        .init("mostTrips", "The highest number of trips of one run.", \.mostTrips),
        .init("mostRows", "The highest number of rows of one run.", \.mostRows),
    ]
}
