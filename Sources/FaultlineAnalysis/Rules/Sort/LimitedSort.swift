internal import FaultlineTrace

/// An estimate of the rows that SQLite sorted for a fetch whose limit lets it return only a few.
///
/// SQLite does not count them. With a predicate, the steps of its virtual machine give a minimum: SQLite's programs
/// (https://www.sqlite.org/opcode.html) take at most the steps assumed here for each row.
struct LimitedSort {
    let counts: FetchCounts
    let shape: ShapeEntry
    /// SQLite's plan, or `nil` if unknown.
    let plan: String?
    /// The number of columns of a row.
    let columns: Int

    /// The steps for a row of a scan, and for each comparison: to read the column, to compute, and to jump.
    private static let scanned = 1.0
    private static let plainTerm = 3.0
    private static let otherTerm = 6.0
    /// The additional steps for a row that matches, until it is in the sorter or sorts behind the last row kept.
    private static let sorted = 8.0
    /// The steps for each column of a returned row, into the sorter and out of it, and for the row itself.
    private static let column = 2.0
    private static let row = 16.0

    /// The minimum number of rows sorted in all, or `nil` if it cannot be estimated.
    var rows: Double? {
        guard let terms = shape.terms, !terms.isEmpty, shape.isLimited, counts.sorts > 0,
            // A list takes steps for its values too, and the steps for another table are unknown.
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

    /// Whether an index seeks the rows by all terms.
    ///
    /// Otherwise some rows that it finds are not sorted.
    private func decidesAll(_ terms: Int) -> Bool {
        guard let search = plan.flatMap(StatementTable.ownSearch) else { return false }
        return search.utf8.count { $0 == UInt8(ascii: "?") } == terms
    }
}

extension ShapeEntry.Term {
    /// Whether SQLite compares the column with a value directly.
    fileprivate var isPlain: Bool {
        options == nil && ["==", "!=", "<", "<=", ">", ">="].contains(operation) && operand != "expression"
    }
}
