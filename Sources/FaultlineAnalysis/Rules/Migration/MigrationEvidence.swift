public import FaultlineTrace

/// Migrations of one store, or one of their parts.
public struct MigrationEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public var stage: TraceEvent.Migration.Stage
        public var way: TraceEvent.Migration.Way
        /// The store's file for a whole migration, and what a part is for otherwise; empty for nothing or several.
        public var name: String
        /// The line that opened the store, for a whole migration; `nil` if the trace does not have it, and for parts.
        public var site: CallSite?
    }

    public internal(set) var count: UInt64 = 0
    /// The rows that statements went through, or the objects that were created or changed.
    public internal(set) var rows: UInt64 = 0
    /// The size of the store's file, the largest one.
    public internal(set) var bytes: UInt64 = 0
    /// The total time, and that on main threads, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The longest migration on a main thread, in nanoseconds.
    public internal(set) var longestOnMainThread: UInt64 = 0
    /// The number of migrations on the main thread of a program that is an app.
    public internal(set) var appMigrations: UInt64 = 0
    /// The time of migrations that could have been inferred, and the time that SQL would have taken, in nanoseconds.
    public internal(set) var inferableTime: UInt64 = 0
    public internal(set) var timeInSQL: UInt64 = 0
    public internal(set) var failures: UInt64 = 0
}

extension MigrationEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<MigrationEvidence>] = [
        .sum("count", \.count), .sum("rows", \.rows), .maximum("bytes", \.bytes), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .maximum("longestOnMainThread", \.longestOnMainThread),
        .sum("appMigrations", \.appMigrations), .sum("inferableTime", \.inferableTime),
        .sum("timeInSQL", \.timeInSQL), .sum("failures", \.failures),
    ]
}

extension TraceEvent.Migration.Stage: WordKey {}
extension TraceEvent.Migration.Way: WordKey {}

extension MigrationEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    var sortText: String { [stage.word, way.word, name, site?.sortText ?? ""].joined(separator: "\u{2}") }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([stage.stored(&words), way.stored(&words), .text(name), site.stored(&words)])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 4)
        self.init(
            stage: try TraceEvent.Migration.Stage(parts[0], words), way: try TraceEvent.Migration.Way(parts[1], words),
            name: try parts[2].text(), site: try CallSite?(parts[3], words))
    }
}
