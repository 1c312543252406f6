internal import FaultlineTrace

/// Gathers migrations and their parts.
struct MigrationDetector: EvidenceDetector {
    static let name = "migrations"
    static let kinds: Set<EventKind> = [.migration]
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
    public var migrations: [(key: MigrationEvidence.Key, evidence: MigrationEvidence)] {
        evidence(of: MigrationDetector.self)
    }

    /// The time of all migrations, in nanoseconds.
    public var migrationTime: UInt64 { wholeMigrations.reduce(0) { $0 &+ $1.evidence.time } }

    /// The migrations without their parts.
    var wholeMigrations: [(key: MigrationEvidence.Key, evidence: MigrationEvidence)] {
        migrations.filter { $0.key.stage == .whole }
    }
}
