internal import FaultlineTrace

/// What is read of SQLite's plan for a statement (https://www.sqlite.org/eqp.html).
struct PlanFacts: Sendable {
    /// The only step that goes to a table.
    struct Access: Sendable, Hashable {
        /// Whether it goes through the table row by row, and not by an index.
        var isScan: Bool
    }

    /// The plan's lines.
    let text: String
    /// `nil`: several tables are joined, or one is gone to several times.
    let access: Access?

    init(_ plan: PlanEntry) {
        text = plan.rows.map(\.detail).joined(separator: "\n")
        let steps = plan.rows.filter { $0.detail.hasPrefix("SCAN ") || $0.detail.hasPrefix("SEARCH ") }
        access = steps.count == 1 ? Access(isScan: steps[0].detail.hasPrefix("SCAN ")) : nil
    }
}
