/// The progress of a store's migration; see ``PersistentStoreDescription/migrationObserver``.
public struct MigrationProgress: Sendable {
    /// A statement that has run.
    package struct Step: Sendable {
        /// The part of the migration: `prepare`, `rows`, `derive`, `index` or `finish`.
        package let stage: String
        /// The table of the newer version that the statement was for, or empty.
        package let table: String
        package let sql: String
        package let nanoseconds: UInt64

        package init(stage: String, table: String, sql: String, nanoseconds: UInt64) {
            (self.stage, self.table, self.sql, self.nanoseconds) = (stage, table, sql, nanoseconds)
        }
    }

    /// The entity whose objects were migrated last: its name in the newer version.
    ///
    /// In a migration in SQL, the root of a hierarchy represents all its entities. Empty for the table of a many-to-many
    /// relationship, and for statements without a table.
    public package(set) var entity = ""
    /// The number of the step from one version to the next, from 1.
    public package(set) var step = 1
    /// The number of steps: 1, unless the migration leads through several versions.
    public package(set) var stepCount = 1
    /// The rows of this step that are done, or the objects in a migration with a mapping model.
    public package(set) var completedRowCount: UInt64 = 0
    /// All rows or objects of this step.
    ///
    /// A row counts once for each statement that processes it, and an object twice: when it is created, and when its
    /// relationships are set.
    public package(set) var totalRowCount: UInt64
    /// The statements of this step that have run.
    package var steps: [Step] = []

    /// The share of the whole migration that is done, from 0 to 1.
    public var fractionCompleted: Double {
        let own = totalRowCount == 0 ? 0 : min(1, Double(completedRowCount) / Double(totalRowCount))
        return (Double(step - 1) + own) / Double(stepCount)
    }

    package init(total: UInt64) {
        totalRowCount = total
    }
}
