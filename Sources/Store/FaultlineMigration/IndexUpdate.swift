import FaultlineModel
import FaultlineRecorder
import FaultlineStore

/// Gives a store the indexes of its model, which can change without a new version.
///
/// Fetch indexes have no part in a version's hash, so a store that has the version may lack an index that was added later. Core
/// Data leaves such a store as it is.
struct IndexUpdate {
    private let opening: StoreOpening
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog
    private let digest: String

    init(
        _ opening: StoreOpening, _ description: PersistentStoreDescription, _ model: ManagedObjectModel,
        _ recorder: Recorder, _ log: SQLDebugLog
    ) {
        (self.opening, self.description, self.model) = (opening, description, model)
        (self.recorder, self.log) = (recorder, log)
        digest = model.schema.indexDigest(forTables: opening.configuration?.tables)
    }

    /// Creates and removes indexes if the model's indexes have changed since the last update.
    ///
    /// Leaves alone stores that Core Data created and Faultline never migrated. A store that cannot be written now is updated
    /// when it is opened again.
    func runIfNeeded() {
        guard description.type == .sqlite, !description.isInMemory, !description.isReadOnly,
            opening.metadata.values[VersionKeys.layout] != nil,
            opening.metadata.values[VersionKeys.indexes] as? String != digest
        else { return }
        let setup = StoreSetup(opening.session, path: description.path, doing: "Updating the store's indexes")
        do throws(StoreError) {
            try setup.inTransaction("BEGIN IMMEDIATE", isLogged: true) { () throws(StoreError) in try run(setup) }
        } catch {
            // A fetch without an index is slow, but it works.
            log.migration("Updating the indexes of '\(description.path)' failed: \(error)")
        }
    }

    private func run(_ setup: StoreSetup) throws(StoreError) {
        let structure = try StoreStructure(setup)
        let target = try StoreStructure(
            creating: opening.schema.statements(forTables: opening.configuration?.tables))
        var kept: [String: IndexPlan.KeptTable] = [:]
        for table in target.tables.values where structure.tables[table.name] != nil {
            kept[table.name] = IndexPlan.KeptTable(
                newName: table.name, renamed: [:], assigned: [], columns: Set(table.columns.map(\.name)))
        }
        let plan = IndexPlan(structure, target, kept: kept, gone: [])
        if !plan.removals.isEmpty || !plan.creations.isEmpty {
            let trace = MigrationTrace(recorder: recorder, log: log, way: .inferred)
            for sql in plan.removals { try setup.session.run(sql, doing: setup.doing) }
            for (table, sql) in plan.creations {
                let entity = opening.schema.entities.first { $0.table == table }?.name ?? table
                try trace.part(.index, entity) { _ throws(StoreError) in
                    _ = try setup.session.run(sql, doing: setup.doing)
                }
            }
        }
        try setup.replaceModel(model, configuration: description.configuration)
        try setup.changeMetadata { $0[VersionKeys.indexes] = digest }
    }
}
