package import FaultlineTrace

/// Facts about SQLite's plan for a statement (https://www.sqlite.org/eqp.html).
package struct PlanFacts: Sendable {
    /// The plan's only step that accesses a table.
    struct Access: Sendable, Hashable {
        /// Whether the step scans the table or an index, instead of seeking.
        var isScan: Bool
        /// The number of index columns that are compared for equality.
        var equalities: Int
        /// The number of rows that SQLite expects from its statistics, or `nil` if the table has none.
        var expectedRows: UInt64?
        /// The indexes of the scanned table, each as its columns.
        var indexes: Set<String>

        init(_ step: PlanEntry.Row) {
            isScan = step.detail.hasPrefix("SCAN ")
            equalities = step.detail.matches(of: /[^<>]=\?/).count
            expectedRows = step.expectedRows.map { UInt64(max(0, $0)) }
            indexes = isScan ? Set(step.indexes ?? []) : []
        }
    }

    /// The lines of the plan.
    package let text: String
    /// `nil` if the statement joins tables, or accesses one several times.
    let access: Access?
    /// Whether the plan sorts all rows at once.
    let sortsRows: Bool

    init(_ plan: PlanEntry) {
        text = plan.rows.map(\.detail).joined(separator: "\n")
        let steps = plan.rows.filter { $0.detail.hasPrefix("SCAN ") || $0.detail.hasPrefix("SEARCH ") }
        access = steps.count == 1 ? Access(steps[0]) : nil
        sortsRows = plan.rows.contains { $0.detail == "USE TEMP B-TREE FOR ORDER BY" }
    }

    /// Compares the rows a statement visited with the rows that SQLite's statistics led it to expect.
    ///
    /// - Parameter isCut: Whether a limit or an offset omits rows.
    /// - Returns: `nil` without statistics, or if the statement counts or groups rows. The comparison is inexact if a
    ///   limit omits rows or another term rejects rows that the index found. SQLite may then have visited more rows.
    func expectation(
        of statement: TraceEvent.Statement, _ shape: ShapeEntry, isCut: Bool
    ) -> StatementTable.Expectation? {
        guard let access, let expected = access.expectedRows, statement.error == 0,
            shape.resultType == "objects" || shape.resultType == "objectIDs"
        else { return nil }
        var expectation = StatementTable.Expectation()
        (expectation.runs, expectation.expectedRows) = (1, expected)
        if access.isScan {
            // Without a step, the table may have one row or none, or the predicate may never hold.
            guard statement.scannedRows > 0 else { return nil }
            (expectation.rows, expectation.exactRuns) = (statement.scannedRows, isCut ? 0 : 1)
            return expectation
        }
        let terms = shape.terms ?? []
        guard terms.allSatisfy(\.isEquality), !terms.contains(where: { $0.operation == "IN" }) else { return nil }
        let isExact = !isCut && !terms.isEmpty && terms.count == access.equalities
        (expectation.rows, expectation.exactRuns) = (UInt64(statement.rows), isExact ? 1 : 0)
        return expectation
    }
}

extension ShapeEntry.Term {
    /// Whether an index can find the rows that match the term: a plain comparison with a value, which must hold.
    private var isIndexable: Bool {
        isAlternative != true && isNegated != true && options == nil && isFolded != true && operand != "expression"
            && keyPath.uppercased() != "SELF"
    }

    /// Whether the term compares with one value, or with one of several.
    package var isEquality: Bool { isIndexable && (operation == "==" || operation == "IN") }

    /// Whether the term matches a contiguous range of values.
    package var isRange: Bool {
        isIndexable && operand == "value" && ["<", "<=", ">", ">=", "BETWEEN", "BEGINSWITH"].contains(operation)
    }
}

// Texts that sort tables independently of the order of events.

extension ShapeEntry {
    package var sortText: String {
        let parts = [entity, predicate, sort.joined(separator: ","), prefetch.joined(separator: ","), resultType]
        let expressions = ((expressions ?? []) + (groups ?? []) + (having.map { [$0] } ?? [])).map { "\u{1}" + $0 }
            .joined()
        return parts.joined(separator: "\u{1}") + (isLimited ? "\u{1}limit" : "") + expressions
            + (terms.map(Self.forms) ?? "") + (hasUnrecordedValues == true ? "\u{1}values unrecorded" : "")
            + (includesPropertyValues == false ? "\u{1}keys" : "")
    }

    /// The terms, marked to distinguish an empty list from none.
    private static func forms(_ terms: [Term]) -> String {
        "\u{1}terms"
            + terms.flatMap { term -> [String?] in
                let flags = [term.isAlternative, term.isNegated, term.isFolded].map { $0.map { $0 ? "1" : "0" } ?? "-" }
                return [term.keyPath, term.operation, term.operand, term.options, term.wildcards] + flags
            }
            .map { "\u{1}" + ($0 ?? "-") }.joined()
    }
}

extension EntityEntry {
    package func property(_ name: some StringProtocol) -> Property? { properties.first { $0.name == name } }

    /// All data of the entity except the limit of its store's row cache.
    var text: String {
        ([name, root ?? ""]
            + properties.flatMap { property in
                [
                    property.name, property.type, property.declaredAt ?? "", property.destination ?? "",
                    property.inverse ?? "",
                    property.isExternal.map { $0 ? "1" : "0" } ?? "-",
                ]
            }).joined(separator: "\u{1}")
    }
}

extension CallSite {
    package var sortText: String {
        let digits = String(line)
        return file + ":" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits + ":" + function
    }
}
