import FaultlineModel

extension StoreMigration {
    /// Says what a migration of a store would do, without changing anything.
    ///
    /// - Parameter mapping: A mapping model that ``MappedRules`` accept; `nil` to infer what continues what.
    /// - Returns: `nil` if the store's version is not found.
    /// - Throws: ``StoreError`` if the store cannot be read, or if no mapping can be inferred.
    static func preview(
        _ description: PersistentStoreDescription, to model: ManagedObjectModel,
        sources: some Sequence<ManagedObjectModel>,
        mapping: MappingModel?
    ) throws(StoreError) -> MigrationPreview? {
        let setup = try StoreOpening.setup(description.type, forReading: description.url)
        defer { setup.session.connection.close() }
        guard let old = try SourceSearch(setup, description).version(among: sources) else { return nil }
        try old.checkMigration(to: model, description.path)
        return try StoreMigration(setup.session, setup, description, old, model, mapping).preview()
    }

    private func preview() throws(StoreError) -> MigrationPreview {
        let counts = try counts(old)
        let continued = Dictionary(uniqueKeysWithValues: plan.pairs.pairs.map { ($0.old.index, $0.new.name) })
        var preview = MigrationPreview(source: old.model, possibleRenamings: rules.possibleRenamings)
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
        preview.storeBytes = StoreFiles.size(of: description.url)
        let work = plan.statements.filter { $0.stage == .rows || $0.stage == .derive || $0.stage == .index }
        preview.rows = work.reduce(0) { $0 + weight($1, counts) }
        preview.seconds = try secondsPerRow(counts).map { $0 * Double(preview.rows) }
        return preview
    }

    /// How long it takes to copy a row of the largest table, measured with some of its rows.
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
