internal import FaultlineTrace

/// How many rows a fetch with a limit had SQLite sort, of which it handed out few.
///
/// SQLite does not count them. Where a predicate picks among the rows, the steps of its virtual machine tell how many there
/// were at least: what it does for a row, seen in its programs (https://www.sqlite.org/opcode.html), is no more than what is
/// assumed here.
struct LimitedSort {
    let counts: FetchCounts
    let shape: ShapeEntry
    /// SQLite's plan; `nil`: not told.
    let plan: String?
    /// Columns of a row.
    let columns: Int

    /// Steps for a row of a scan, and for each comparison of it: the column, what is made of it, and the jump.
    private static let scanned = 1.0
    private static let plainTerm = 3.0
    private static let otherTerm = 6.0
    /// Steps more for a row that fits, until it lies among the sorted ones or falls behind the last of them.
    private static let sorted = 8.0
    /// Steps for each column of a row that is handed out, on its way into the sort and out of it, and for the row.
    private static let column = 2.0
    private static let row = 16.0

    /// Rows that were sorted in all, at least; `nil`: nothing tells.
    var rows: Double? {
        guard let terms = shape.terms, !terms.isEmpty, shape.isLimited, counts.sorts > 0,
            // A list takes steps for its values as well, and what another table takes nobody knows.
            !terms.contains(where: { $0.keyPath.contains(".") || $0.operation.hasPrefix("ANY") || $0.operation == "IN" }
            ),
            counts.fullScanSteps > 0 || decidesAll(terms.count)
        else { return nil }
        let comparing = terms.reduce(0) { $0 + ($1.isPlain ? Self.plainTerm : Self.otherTerm) }
        let scan = counts.fullScanSteps > 0 ? Double(counts.fullScanSteps &+ counts.statements) : 0
        let handedOut = Double(counts.rows) * (Self.row + Self.column * Double(columns))
        let steps = Double(counts.virtualMachineSteps) - scan * (Self.scanned + comparing) - handedOut
        return max(0, steps / (Self.sorted + (scan > 0 ? 0 : comparing)))
    }

    /// Whether an index leads to the rows by all terms: otherwise some of the rows that it leads to are not sorted at all.
    private func decidesAll(_ terms: Int) -> Bool {
        guard let search = plan.flatMap(StatementTable.ownSearch) else { return false }
        return search.utf8.count { $0 == UInt8(ascii: "?") } == terms
    }
}

extension ShapeEntry.Term {
    /// Whether a value is compared with it as it is.
    fileprivate var isPlain: Bool {
        options == nil && ["==", "!=", "<", "<=", ">", ">="].contains(operation) && operand != "expression"
    }
}
