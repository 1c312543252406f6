import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// The end of a migration with a mapping model: the new store gets its version and its identity, and its objects are validated.
struct MigrationEnd {
    private let source: SQLStore
    private let sourceModel: ManagedObjectModel
    private let url: URL
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog

    init(
        _ source: SQLStore, _ sourceModel: ManagedObjectModel, _ url: URL, _ model: ManagedObjectModel,
        _ recorder: Recorder, _ log: SQLDebugLog
    ) {
        (self.source, self.sourceModel, self.url, self.model) = (source, sourceModel, url, model)
        (self.recorder, self.log) = (recorder, log)
    }

    /// - Parameter keepsIdentity: Whether the new store gets the identifier and the metadata of the older one.
    func finish(keepsIdentity: Bool) throws {
        var description = PersistentStoreDescription(url: url)
        description.shouldMigrateStoreAutomatically = false
        let session = try StoreOpening.connect(description, recorder: recorder, log: log)
        do {
            defer { session.connection.close() }
            let setup = StoreSetup(session, path: url.path, doing: StoreMigration.doing)
            try setup.setJournal("delete")
            try setup.inTransaction("BEGIN EXCLUSIVE", isLogged: true) { () throws(StoreError) in
                if keepsIdentity {
                    try setup.replaceVersion(
                        StoreVersion(model: model, schema: model.schema, configuration: nil),
                        earlier: StoreMetadata(source.identity.metadata).earlierVersions
                            + [sourceModel.versionChecksum],
                        type: .sqlite)
                    try setup.adopt(source.identity)
                }
                try checkIntegrity(setup)
            }
        }
        description.isReadOnly = true
        let container = try PersistentContainer(
            name: "Validation", managedObjectModel: model, storeDescription: description, recorder: recorder,
            sqlDebug: log)
        let side = MigrationRun.Side(container)
        defer { try? side.container.close() }
        try side.context.performAndWait { try validate(side) }
    }

    private func checkIntegrity(_ setup: StoreSetup) throws(StoreError) {
        let found = try setup.read("PRAGMA integrity_check") { sqlite3_column_text($0, 0).map { String(cString: $0) } }
        guard found != ["ok"] else { return }
        throw StoreError(
            .database,
            "\(StoreMigration.doing) failed because the new store is damaged (\(found.first.flatMap { $0 } ?? "")); try again."
        )
    }

    // MARK: - Validation

    /// Validates all objects of entities whose properties have limits or are required.
    private func validate(_ side: MigrationRun.Side) throws {
        for entity in side.store.schema.entities where !entity.isAbstract {
            if entity.properties.contains(where: { $0.limits != nil }) {
                try validateObjects(of: entity, side)
            } else {
                for property in entity.properties where !property.isOptional && !property.isTransient {
                    try checkThere(property, of: entity, side)
                }
            }
        }
    }

    private func validateObjects(of entity: EntitySchema, _ side: MigrationRun.Side) throws {
        var request = FetchRequest<ManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        request.fetchBatchSize = 500
        for object in try side.context.fetch(request) {
            for property in entity.properties where !property.isTransient && !property.isDerived {
                do throws(StoreError) {
                    try object.checkValue(object.value(forKey: property.name), forKey: property.name)
                } catch {
                    // The error below names the object itself.
                    let reason = error.message.components(separatedBy: "\(object.objectID): ").last ?? error.message
                    throw invalid(entity, object.key, reason)
                }
            }
        }
    }

    /// Checks in SQL that all objects of an entity have a value for a required property.
    private func checkThere(_ property: PropertySchema, of entity: EntitySchema, _ side: MigrationRun.Side) throws {
        if property.isDerived { return }
        let condition: String
        switch property.kind {
        case .attribute, .toOne: condition = "\(property.column) IS NULL"
        case .toMany:
            let schema = side.store.schema
            guard let table = schema.destination(of: property)?.table, let key = schema.inverse(of: property)?.column
            else { return }
            condition = "NOT EXISTS (SELECT 1 FROM \(table) d WHERE d.\(key) = t.Z_PK)"
        case .manyToMany:
            guard let join = property.joinTable else { return }
            condition = "NOT EXISTS (SELECT 1 FROM \(join.table) d WHERE d.\(join.sourceColumn) = t.Z_PK)"
        }
        let key = try side.store.integers(
            "SELECT Z_PK FROM \(entity.table) t WHERE Z_ENT = \(entity.number) AND \(condition) LIMIT 1"
        ).first
        guard let key else { return }
        let what = property.isToMany ? "no objects" : property.isRelationship ? "no object" : "no value"
        throw invalid(entity, key, "'\(entity.name).\(property.name)' has \(what) and is not optional")
    }

    private func invalid(_ entity: EntitySchema, _ key: Int64, _ reason: String) -> StoreError {
        // The error below has the remedy for a migration.
        let reason = reason.components(separatedBy: "; ")[0]
        return StoreError(
            .migration,
            "The migrated \(entity.name) object with the primary key \(key) is invalid: \(reason); let the mapping model or its policy set a valid value."
        )
    }
}

extension StoreSetup {
    /// Gives a new store the identifier and the program's metadata of another one.
    fileprivate func adopt(_ identity: PersistentStore) throws(StoreError) {
        let own = identity.metadata.filter { !StoreMetadata.isOwn($0.key) }
        try changeMetadata { $0.merge(own) { $1 } }
        try session.run("UPDATE Z_METADATA SET Z_UUID = ?", [.text(identity.identifier)], doing: doing)
    }
}
