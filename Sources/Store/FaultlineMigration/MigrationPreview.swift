package import FaultlineModel
import FaultlineStore

/// A preview of a migration in place.
package struct MigrationPreview: Sendable {
    /// The objects of an entity.
    package struct Objects: Sendable {
        package let entity: String
        /// The entity that they would have; `nil` if they would be removed.
        package let newEntity: String?
        package let count: Int64
    }

    /// A statement of the plan.
    package struct Step: Sendable {
        package let stage: String
        package let table: String
        package let sql: String
    }

    /// The entities and properties that may have been renamed without an identifier.
    package var possibleRenamings: [PossibleRenaming] = []
    package var objects: [Objects] = []
    package var steps: [Step] = []
    /// The reasons why the store's rows do not allow the migration, as sentences without a full stop.
    package var obstacles: [String] = []
    /// The size of the store's file.
    package var storeBytes: UInt64 = 0
    /// The number of rows that the statements would process.
    package var rows: UInt64 = 0
    /// The estimated time; `nil` if there are no rows.
    package var seconds: Double?
}

extension StoreMigration {
    /// Returns a preview of the migration, without changing anything.
    func preview() throws(StoreError) -> MigrationPreview {
        let counts = try counts(old)
        let continued = Dictionary(uniqueKeysWithValues: plan.pairs.pairs.map { ($0.old.index, $0.new.name) })
        var preview = MigrationPreview()
        preview.possibleRenamings = rules.possibleRenamings
        for entity in old.schema.entities where old.has(entity.name) && !entity.isAbstract {
            preview.objects.append(
                MigrationPreview.Objects(
                    entity: entity.name, newEntity: continued[entity.index], count: counts[entity.number] ?? 0))
        }
        for check in plan.checks {
            if let failure = try failure(of: check) { preview.obstacles.append(failure) }
        }
        preview.steps = plan.statements.map {
            MigrationPreview.Step(stage: $0.stage.rawValue, table: $0.table, sql: $0.sql)
        }
        preview.storeBytes = description.url.fileSize
        let work = plan.statements.filter { $0.stage == .rows || $0.stage == .derive || $0.stage == .index }
        preview.rows = work.reduce(0) { $0 + weight($1, counts) }
        preview.seconds = try secondsPerRow(counts).map { $0 * Double(preview.rows) }
        return preview
    }

    /// The time to copy a row of the largest table, measured with some of its rows.
    private func secondsPerRow(_ counts: [Int64: Int64]) throws(StoreError) -> Double? {
        let sample: Int64 = 20_000
        let pair = plan.pairs.pairs.max { counts[$0.old.number] ?? 0 < counts[$1.old.number] ?? 0 }
        guard let pair, let count = counts[pair.old.number], count > 0 else { return nil }
        let start = ContinuousClock.now
        try session.run(
            "CREATE TEMP TABLE Z_FAULTLINE_SAMPLE AS SELECT * FROM main.\(pair.old.table) LIMIT \(sample)",
            doing: Self.doing)
        let time = ContinuousClock.now - start
        try session.run("DROP TABLE temp.Z_FAULTLINE_SAMPLE", doing: Self.doing)
        return time / .seconds(1) / Double(min(count, sample))
    }
}
