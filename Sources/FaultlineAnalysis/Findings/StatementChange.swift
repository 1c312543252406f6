/// A change to a statement of a program without an object store, in a form that can be tried.
package struct StatementChange: Sendable, Hashable {
    /// The statement without values.
    package var sql: String
    /// The runs in the trace, the rows that they returned or changed, and their time in nanoseconds.
    package var executions: UInt64
    package var rows: UInt64
    package var time: UInt64
    package var kind: Kind

    package enum Kind: Sendable, Hashable {
        /// Creates indexes that serve the statement.
        case indexes([String])
        /// Searches a full-text index of a column.
        case fullText(table: String, column: String)
        /// Reads the rows of several runs with one statement.
        case together(runs: UInt64)
        /// Runs the statement once instead of several times with the same values.
        case once(runs: UInt64)
        /// Keeps the statement prepared.
        case prepared
        /// Continues after the last row of the previous page instead of skipping rows.
        case keyset(column: String, isDescending: Bool, skipped: UInt64)
        /// Selects fewer columns.
        case columns([String])
        /// Counts the rows instead of stepping over them.
        case count
        /// Asks whether there is a row.
        case existence
        /// Writes the rows of several transactions in one.
        case transaction(transactions: UInt64)
    }
}
