import FaultlineModel
import FaultlineRecorder
import Foundation

/// Runs the steps of a ``MigrationPath``.
///
/// Several steps change a copy of the store, which then replaces it. The store therefore never has a version between.
struct ProgressiveMigration {
    let description: PersistentStoreDescription
    let recorder: Recorder
    let log: SQLDebugLog
    /// Where to put a copy of the older store; `nil` for none.
    let backup: URL?

    /// - Returns: Whether the store still had the version of the first step; if not, nothing was changed.
    func run(_ path: MigrationPath) throws(StoreError) -> Bool {
        guard let first = path.steps.first else { return false }
        do {
            if path.steps.count == 1 {
                return try run(first, (1, 1), description, backup: backup, stepOf: nil)
            }
            let replacement = StoreReplacement(
                description: description, sourceModel: first.old, recorder: recorder, log: log)
            let trace = MigrationTrace(recorder: recorder, log: log, way: .staged)
            try trace.whole(description.path) {
                try replacement.run(backup: backup) { copy in
                    for (index, step) in path.steps.enumerated() {
                        try run(step, (index + 1, path.steps.count), copy)
                    }
                }
            }
            return true
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .entityMigrationPolicy, "Migrating '\(description.path)' was undone because of an error: \(error)",
                cause: error)
        }
    }

    /// Changes a copy of the store, which errors do not name.
    private func run(_ step: MigrationPath.Step, _ number: (number: Int, count: Int), _ copy: URL) throws {
        var copied = description
        copied.url = copy
        do {
            guard try run(step, number, copied, backup: nil, stepOf: description.path) else {
                throw StoreError(
                    .incompatibleModel, "Migrating '\(copy.path)' was undone because the copy cannot be read again.")
            }
        } catch let error as StoreError {
            throw StoreError(
                error.code, error.message.replacing(copy.path, with: description.path), cause: error.cause)
        }
    }

    private func run(
        _ step: MigrationPath.Step, _ number: (number: Int, count: Int), _ description: PersistentStoreDescription,
        backup: URL?, stepOf migrated: String?
    ) throws -> Bool {
        if let mapping = step.mapping, (try? MappedRules.rules(mapping, from: step.old, to: step.new)) == nil {
            let manager = MigrationManager(
                sourceModel: step.old, destinationModel: step.new, recorder: recorder, sqlDebug: log)
            manager.policies = description.migrationPolicies
            manager.migrated = migrated
            manager.reporter = MigrationReporter(description, step: number)
            let replacement = StoreReplacement(
                description: description, sourceModel: step.old, recorder: recorder, log: log)
            try replacement.run(manager, mapping, backup: backup)
            return true
        }
        return try StoreMigration.run(
            description, to: step.new, sources: [step.old], expecting: step.old,
            mapping: step.mapping, recorder: recorder, log: log,
            backup: backup, stepOf: migrated, step: number)
    }
}
