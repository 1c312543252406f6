/// How far the migration of a store is; see ``PersistentStoreDescription/migrationObserver``.
public struct MigrationProgress: Sendable {
    /// A statement that has run.
    package struct Step: Sendable {
        /// The part of the migration: `prepare`, `rows`, `derive`, `index` or `finish`.
        package let stage: String
        /// The table of the newer version that the statement was for, or empty.
        package let table: String
        package let sql: String
        package let nanoseconds: UInt64
    }

    /// The entity whose objects were migrated last: its name in the newer version.
    ///
    /// The root of a hierarchy stands for all its entities in a migration in SQL. Empty for a table of a many-to-many relationship,
    /// and for statements that are about no table.
    public internal(set) var entity = ""
    /// The number of the step from one version to the next, from 1.
    public internal(set) var step = 1
    /// The number of steps: 1, unless the migration leads through several versions.
    public internal(set) var stepCount = 1
    /// The rows of this step that are done, or the objects in a migration with a mapping model.
    public internal(set) var completedRowCount: UInt64 = 0
    /// All rows or objects of this step.
    ///
    /// A row counts once for each statement that goes through it, and an object twice: when it is created, and when its
    /// relationships are set.
    public internal(set) var totalRowCount: UInt64
    /// The statements of this step that have run.
    package private(set) var steps: [Step] = []

    /// The share of the whole migration that is done, from 0 to 1.
    public var fractionCompleted: Double {
        let own = totalRowCount == 0 ? 0 : min(1, Double(completedRowCount) / Double(totalRowCount))
        return (Double(step - 1) + own) / Double(stepCount)
    }

    init(total: UInt64) {
        totalRowCount = total
    }

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
    /// The step of several, from 1, and their number.
    private let step: (number: Int, count: Int)

    init(_ description: PersistentStoreDescription, step: (number: Int, count: Int)) {
        (path, observer, self.step) = (description.path, description.migrationObserver, step)
    }

    /// - Throws: ``StoreError`` with the code `migrationCanceled` if the program cancels the migration.
    func report(_ progress: MigrationProgress) throws(StoreError) {
        guard let observer else { return }
        var progress = progress
        (progress.step, progress.stepCount) = step
        do {
            try observer(progress)
        } catch {
            throw StoreError(
                .migrationCanceled,
                "Migrating '\(path)' was canceled by its observer (\(error)); open the store again to migrate it.",
                cause: error)
        }
    }
}
