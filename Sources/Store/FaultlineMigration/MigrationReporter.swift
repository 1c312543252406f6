import FaultlineStore

extension MigrationProgress {
    mutating func add(_ statement: MigrationPlan.Statement, _ weight: UInt64, since start: ContinuousClock.Instant) {
        let time = ContinuousClock.now - start
        steps.append(
            Step(
                stage: statement.stage.rawValue, table: statement.table, sql: statement.sql,
                nanoseconds: UInt64(max(time / .nanoseconds(1), 0))))
        completedRowCount += weight
    }
}

/// Reports the progress of a migration to the program.
struct MigrationReporter: Sendable {
    private let path: String
    private let observer: (@Sendable (MigrationProgress) throws -> Void)?
    /// The number of the current step, from 1, and the number of all steps.
    private let step: (number: Int, count: Int)

    init(_ description: PersistentStoreDescription, step: (number: Int, count: Int)) {
        (path, observer, self.step) = (description.path, description.migrationObserver, step)
    }

    /// - Throws: `StoreError` with the code `migrationCanceled` if the program cancels the migration.
    func report(_ progress: MigrationProgress) throws(StoreError) {
        guard let observer else { return }
        var progress = progress
        (progress.step, progress.stepCount) = step
        do {
            try observer(progress)
        } catch {
            throw StoreError(
                .migrationCanceled,
                "Migrating '\(path)' was cancelled by its observer (\(error)); open the store again to migrate it.",
                cause: error)
        }
    }
}
