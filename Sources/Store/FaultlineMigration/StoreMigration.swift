import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Makes a store of an older model version one of a newer version, in SQL alone and in one transaction.
///
/// Nothing is loaded into memory. If anything fails, or the program is killed, the store is as it was.
struct StoreMigration {
    let session: SQLSession
    let setup: StoreSetup
    let description: PersistentStoreDescription
    let path: String
    let old: StoreVersion
    let rules: MigrationRules
    let new: StoreVersion
    let plan: MigrationPlan
    private let functions: MigrationFunctions
    let external: ExternalData
    private let lastKeys: [String: Int64]

    static let doing = "Migrating the store"

    /// Makes a step from the version that a store has.
    ///
    /// - Parameters:
    ///   - step: A step that SQL can make.
    ///   - writer: A connection to try first, which is closed; `nil` to open one.
    ///   - backup: The file for a copy of the older store; `nil` for none.
    ///   - migrated: The file whose migration this one is a step of; `nil` if this is a whole migration.
    ///   - number: The number of this step, from 1, and the number of all steps.
    ///   - pendingStage: The checksum of the newer version, if its stage has work left to do afterward.
    /// - Throws: `StoreError` if the store cannot be migrated; it is then as it was.
    static func run(
        _ description: PersistentStoreDescription, _ step: MigrationRoute.Step, recorder: Recorder, log: SQLDebugLog,
        writer: SQLSession? = nil, backup: URL? = nil, stepOf migrated: String? = nil,
        number: (number: Int, count: Int) = (1, 1), pendingStage: String? = nil
    ) throws(StoreError) {
        let path = description.path
        if let error = StoreOpening.obstacle(step.new, path, isNew: true) { throw error }
        let trace = MigrationTrace(recorder: recorder, log: log, way: step.mapping == nil ? .inferred : .mapping)
        try trace.whole(migrated ?? path, isStep: migrated != nil) { () throws(StoreError) in
            // A store that cannot be migrated is left alone, without waiting for its other users.
            _ = try step.rules(path: path)
            let setup = try StoreOpening.soleSession(description, recorder, log, trying: writer) {
                (setup) throws(StoreError) in
                // Nobody can write between the backup and the migration.
                if backup != nil { try setup.lock() }
            }
            let session = setup.session
            defer { session.connection.close() }
            let file = description.type == .binary ? BinaryStoreFile(description) : nil
            if let file { _ = try file.load(into: session.connection) }
            try setup.pragma(StoreOpening.pageCache(description))
            let kept = try backup.map { (backup) throws(StoreError) in
                try StoreFiles(description.url).backUp(session.connection, to: backup)
            }
            do throws(StoreError) {
                try setup.inTransaction("BEGIN EXCLUSIVE", isLogged: true) { () throws(StoreError) in
                    // Another process may have migrated it in the meantime.
                    guard let old = try setup.unmigratedVersion(description, step.old) else { throw givenUp(path) }
                    let (migration, ready) = try trace.part(.plan) { _ throws(StoreError) in
                        let migration = try StoreMigration(setup, description, old, step)
                        return (migration, try migration.check())
                    }
                    for renaming in migration.rules.possibleRenamings { log.migration("Possibly renamed: \(renaming)") }
                    try migration.change(ready, pendingStage, trace, MigrationReporter(description, step: number))
                    try file?.write(session.connection, doing: doing)
                }
            } catch {
                kept?.remove()
                throw error
            }
        }
    }

    static func givenUp(_ path: String) -> StoreError {
        StoreError(
            .incompatibleModel,
            "Migrating '\(path)' was abandoned because another program migrated it in the meantime; open it again.")
    }

    init(
        _ setup: StoreSetup, _ description: PersistentStoreDescription, _ old: StoreVersion, _ step: MigrationRoute.Step
    ) throws(StoreError) {
        let model = step.new
        path = description.path
        (session, self.setup, self.description, self.old) = (setup.session, setup, description, old)
        var configuration: StoreConfiguration?
        if let name = description.configuration { configuration = try StoreConfiguration(name, of: model, path: path) }
        new = StoreVersion(model: model, schema: model.schema, configuration: configuration)
        try setup.check(DerivationTriggers(model.schema))
        let structure = try StoreStructure(setup)
        if structure.tables["ATRANSACTION"] != nil, !description.ignoresPersistentHistory,
            !description.tracksPersistentHistory
        {
            throw StoreError(
                .unsupportedStore,
                "Migrating '\(path)' is refused because the store keeps a history of its changes (table ATRANSACTION), in which this one would be missing; set tracksPersistentHistory, or ignoresPersistentHistory if nothing reads the history."
            )
        }
        rules = try step.rules(from: old.model, path: path)
        lastKeys = try Self.lastKeys(setup, old)
        plan = try MigrationPlan(
            for: path, from: old, to: new, rules, structure, lastKeys: lastKeys,
            deferring: description.defersLightweightMigration,
            pending: try setup.readMetadata().1.deferredDrops)
        external = ExternalData(
            storeURL: description.url, store: try setup.readMetadata().uuid,
            threshold: description.externalStorageThreshold)
        functions = MigrationFunctions(external, on: session.connection.handle)
    }

    private func change(
        _ ready: Ready, _ pendingStage: String?, _ trace: MigrationTrace, _ reporter: MigrationReporter
    ) throws(StoreError) {
        let expected = ready.expected
        var progress = MigrationProgress(total: plan.statements.reduce(0) { $0 + weight($1, expected) })
        var position = 0
        while position < plan.statements.count {
            let first = plan.statements[position]
            let part = plan.statements[position...].prefix { $0.part == first.part && $0.table == first.table }
            position += part.count
            progress.entity = new.schema.entities.first { $0.table == first.table }?.name ?? ""
            try trace.part(first.part, name(ofTable: first.table)) { rows throws(StoreError) in
                for statement in part {
                    let start = ContinuousClock.now
                    try run(statement)
                    progress.add(statement, weight(statement, expected), since: start)
                    try reporter.report(progress)
                    rows += self.rows(statement, expected)
                }
            }
        }
        try trace.part(.verify) { _ throws(StoreError) in
            try writeVersion(pendingStage)
            try compare(expected, try counts(new))
        }
        withExtendedLifetime((functions, ready.files)) {}
    }

    /// The entity whose objects a table has, or the table itself if it is a join table.
    private func name(ofTable table: String) -> String {
        new.schema.entities.first { $0.table == table }?.name ?? table
    }

    /// The number of rows that a statement processes.
    private func rows(_ statement: MigrationPlan.Statement, _ counts: [Int64: Int64]) -> UInt64 {
        // Renaming and adding a column change the schema alone; dropping one rewrites the rows.
        let isInSchema = statement.sql.hasPrefix("ALTER") && !statement.sql.contains(" DROP COLUMN ")
        guard !statement.table.isEmpty, statement.stage != .prepare, !isInSchema else { return 0 }
        let rows = plan.pairs.pairs.filter { $0.new.table == statement.table }.compactMap { counts[$0.old.number] }
        return UInt64(max(rows.reduce(0, +), 0))
    }

    /// The work of a statement: the number of rows of its table if it processes them, and otherwise 1.
    func weight(_ statement: MigrationPlan.Statement, _ counts: [Int64: Int64]) -> UInt64 {
        max(rows(statement, counts), 1)
    }

    private func run(_ statement: MigrationPlan.Statement) throws(StoreError) {
        do throws(StoreError) {
            try session.run(statement.sql, doing: Self.doing)
        } catch {
            throw functions.error ?? error
        }
    }

    // MARK: - Keys

    private static func lastKeys(_ setup: StoreSetup, _ old: StoreVersion) throws(StoreError) -> [String: Int64] {
        let stored = Dictionary(
            try setup.read("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY") {
                (sqlite3_column_int64($0, 0), sqlite3_column_int64($0, 1))
            }, uniquingKeysWith: max)
        var last: [String: Int64] = [:]
        for entity in old.storedEntities where entity.parent == nil {
            let used = try setup.read("SELECT IFNULL(MAX(Z_PK), 0) FROM \(entity.table)") {
                sqlite3_column_int64($0, 0)
            }
            last[entity.table] = max(used.first ?? 0, stored[entity.number] ?? 0)
        }
        return last
    }

    // MARK: - The new version

    private func writeVersion(_ pendingStage: String?) throws(StoreError) {
        try session.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < \(StoreSetup.firstOwnEntity)", doing: Self.doing)
        var last: [Int: Int64] = [:]
        for entity in new.schema.entities where entity.parent == nil {
            for source in plan.pairs.sources(of: entity.table) {
                let key = (lastKeys[source] ?? 0) + plan.pairs.offset(from: source, to: entity.table)
                last[entity.index] = max(last[entity.index] ?? 0, key)
            }
        }
        try setup.number(new, last: last, doing: Self.doing)
        try setup.replaceVersion(
            new, earlier: try setup.readMetadata().1.earlierVersions + [old.model.versionChecksum],
            pendingStage: pendingStage, deferred: plan.deferred, type: description.type)
    }
}
