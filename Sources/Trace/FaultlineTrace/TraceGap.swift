/// A kind of data that a trace lacks because the tool that wrote it does not record it.
///
/// A rule names the gaps that leave it nothing to judge, and need not know the tool.
public struct TraceGap: Sendable, Hashable, Codable {
    /// The kind of missing data.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The lines of the program.
        case callSites
        /// Whether the main thread did the work.
        case threads
        /// Faults that the row cache served.
        case rowCache
        /// The fetch that loaded an object.
        case origins
        /// Certainty about that fetch, which is only inferred.
        case certainOrigins
        /// The start of events to the microsecond, and their nesting.
        case exactTimes
        /// The duration of saves and of statements that write.
        case writeTimes
        /// Which rows and properties of results the program read.
        case use
        /// The sizes of rows and values.
        case sizes
        /// SQLite's counters of the steps, sorts and preparations of a statement.
        case counters
        /// The time that work waited for queues and locks.
        case waits
        /// The properties and relationships of entities.
        case model
        /// The names of entities with their capitals, which the names of tables lack.
        case entityNames
        /// Which properties a save changed.
        case changes
        /// The statements, with predicates and sort keys.
        case statements
        /// The values that a predicate compares with, or hashes of them.
        case values
        /// SQLite's plans.
        case plans
        /// Whether operations failed.
        case errors
        /// How many rows a statement returned or changed.
        case rows
        /// How long statements took.
        case durations
        /// Durations below a millisecond.
        case shortDurations
        /// When events began.
        case startTimes
        /// The operations of an object store: fetches, faults and saves. The trace has statements alone.
        case operations

        /// The missing data, in words.
        public var name: String {
            switch self {
            case .callSites: "call sites"
            case .threads: "main-thread marks"
            case .rowCache: "row-cache hits"
            case .origins: "origins of objects"
            case .certainOrigins: "recorded origins of objects"
            case .exactTimes: "exact start times"
            case .writeTimes: "durations of writes"
            case .use: "use of results"
            case .sizes: "sizes of rows and values"
            case .counters: "SQLite's counters"
            case .waits: "waits for queues and locks"
            case .model: "properties of entities"
            case .entityNames: "entity names"
            case .changes: "changed properties"
            case .statements: "SQL"
            case .values: "bound values"
            case .plans: "query plans"
            case .errors: "failures"
            case .rows: "row counts"
            case .durations: "durations of statements"
            case .shortDurations: "durations below 1 ms"
            case .startTimes: "start times"
            case .operations: names.joined(separator: " and ")
            }
        }

        /// The missing data, one name for each thing that a list can name by itself.
        package var names: [String] { self == .operations ? ["fetches", "saves"] : [name] }

        /// The gap, with others that are part of it.
        package var missing: Set<Kind> {
            guard self == .operations else { return [self] }
            return [self, .rowCache, .origins, .use, .sizes, .model, .changes, .errors]
        }
    }

    /// The kind of data that the trace lacks.
    public var kind: Kind
    /// The option that makes the tool record it: `"-com.apple.CoreData.SQLDebug 4"`; empty if there is none.
    public var remedy: String

    /// The gap as one word in a profile's file: `"plans -com.apple.CoreData.SQLDebug 4"`.
    package var word: String { remedy.isEmpty ? kind.rawValue : "\(kind.rawValue) \(remedy)" }

    /// - Returns: `nil` if this version does not know the kind.
    package init?(word: String) {
        let parts = word.split(separator: " ", maxSplits: 1).map(String.init)
        guard let kind = parts.first.flatMap(Kind.init(rawValue:)) else { return nil }
        self.init(kind, remedy: parts.count > 1 ? parts[1] : "")
    }

    /// The gaps in the recording of a program's calls of SQLite.
    package static let ofStatements = [TraceGap(.operations), TraceGap(.exactTimes)]

    /// Creates a gap.
    public init(_ kind: Kind, remedy: String = "") {
        self.kind = kind
        self.remedy = remedy
    }
}
