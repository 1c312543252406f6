internal import FaultlineProfile
package import FaultlineTrace

/// Gathers migrations and their parts.
struct MigrationDetector: EvidenceDetector {
    static let name = "migrations"
    package static let kinds: Set<EventKind> = [.migration]
    private static let capacity = 1024

    var evidence: [MigrationEvidence.Key: MigrationEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .migration(let migration) = event.detail else { return }
        let isWhole = migration.stage == .whole
        let key = MigrationEvidence.Key(
            stage: migration.stage, way: migration.way, name: context.dictionary.name(migration.name) ?? "",
            site: isWhole || migration.stage == .step ? context.callSite(of: event) : nil)
        guard hasRoom(for: key, among: Self.capacity) else { return }
        var found = MigrationEvidence()
        (found.count, found.rows, found.bytes, found.time) = (1, migration.rows, migration.bytes, event.duration)
        if event.isMainThread, isWhole {
            (found.mainThreadTime, found.longestOnMainThread) = (event.duration, event.duration)
            found.appMigrations = context.summary.isApp ? 1 : 0
        }
        if migration.timeInSQL > 0 {
            (found.inferableTime, found.timeInSQL) = (event.duration, migration.timeInSQL)
        }
        found.failures = migration.error == 0 ? 0 : 1
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// Migrations of stores, and their parts.
    package var migrations: [(key: MigrationEvidence.Key, evidence: MigrationEvidence)] {
        evidence(of: MigrationDetector.self)
    }

    /// The time of all migrations, in nanoseconds.
    package var migrationTime: UInt64 { wholeMigrations.reduce(0) { $0 &+ $1.evidence.time } }

    /// The migrations without their parts.
    var wholeMigrations: [(key: MigrationEvidence.Key, evidence: MigrationEvidence)] {
        migrations.filter { $0.key.stage == .whole }
    }
}

/// Migrations of one store, or one of their parts.
package struct MigrationEvidence: Sendable {
    package struct Key: Sendable, Hashable {
        package var stage: TraceEvent.Migration.Stage
        package var way: TraceEvent.Migration.Way
        /// The store's file for a whole migration, and what a part is for otherwise; empty for nothing or several.
        package var name: String
        /// The line that opened the store, for a whole migration; `nil` if the trace does not have it, and for parts.
        package var site: CallSite?
    }

    package var count: UInt64 = 0
    /// The rows that statements processed, or the objects that were created or changed.
    package var rows: UInt64 = 0
    /// The size of the store's file, the largest one.
    package var bytes: UInt64 = 0
    /// The total time, and that on main threads, in nanoseconds.
    package var time: UInt64 = 0
    package var mainThreadTime: UInt64 = 0
    /// The longest migration on a main thread, in nanoseconds.
    var longestOnMainThread: UInt64 = 0
    /// The number of migrations on the main thread of a program that is an app.
    var appMigrations: UInt64 = 0
    /// The time of migrations that could have been inferred, and the time that SQL would have taken, in nanoseconds.
    var inferableTime: UInt64 = 0
    package var timeInSQL: UInt64 = 0
    package var failures: UInt64 = 0

    init() {}
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
