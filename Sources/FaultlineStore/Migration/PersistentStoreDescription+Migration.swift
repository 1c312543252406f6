extension PersistentStoreDescription {
    private struct MigrationSettings: Sendable {
        var manager: StagedMigrationManager?
        var policies: [EntityMigrationPolicy.Type] = []
    }

    private var settings: MigrationSettings {
        get { migrationSettings as? MigrationSettings ?? MigrationSettings() }
        set { migrationSettings = newValue }
    }

    /// The plan by which older stores are migrated, step by step, when they are opened.
    ///
    /// Default: none. With a plan, ``mappingModels`` must be empty, and ``shouldMigrateStoreAutomatically`` and
    /// ``shouldInferMappingModelAutomatically`` must be set.
    public var stagedMigrationManager: StagedMigrationManager? {
        get { settings.manager }
        set { settings.manager = newValue }
    }

    /// The policies that ``mappingModels`` name.
    ///
    /// Default: none.
    public var migrationPolicies: [EntityMigrationPolicy.Type] {
        get { settings.policies }
        set { settings.policies = newValue }
    }
}
