/// How far a migration in place is, and where its time went.
package struct MigrationProgress: Sendable {
    /// A statement that has run.
    package struct Step: Sendable {
        /// The part of the migration: `prepare`, `rows`, `derive`, `index` or `finish`.
        package let stage: String
        /// The table of the newer version that the statement was for, or empty.
        package let table: String
        package let sql: String
        package let nanoseconds: UInt64
    }

    package private(set) var steps: [Step] = []
    /// The work that is done and the whole work, in rows.
    package private(set) var done: UInt64 = 0
    package let total: UInt64

    init(total: UInt64) {
        self.total = total
    }

    mutating func add(_ statement: MigrationPlan.Statement, _ weight: UInt64, since start: ContinuousClock.Instant) {
        let time = ContinuousClock.now - start
        steps.append(
            Step(
                stage: statement.stage.rawValue, table: statement.table, sql: statement.sql,
                nanoseconds: UInt64(max(time / .nanoseconds(1), 0))))
        done += weight
    }
}
