internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R19's findings.
struct SortAdvice {
    let fetch: FetchProfile
    /// The number of rows of one sort.
    let sorted: Double
    /// Whether a limit keeps few of them.
    let isCut: Bool
    /// Whether ``sorted`` is an estimated minimum.
    let isEstimated: Bool
    let profile: Profile

    private var shape: ShapeEntry { fetch.key.shape }

    private struct SortKey {
        var path: String
        /// The collation of texts, if it is not by bytes: `"localized"`.
        var order: String?
        var isAscending: Bool
    }

    private var keys: [SortKey] {
        shape.sort.map { text in
            let words = text.split(separator: " ").map(String.init)
            let order = words.dropFirst().dropLast().joined(separator: " ")
            return SortKey(
                path: words.first ?? "", order: order.isEmpty ? nil : order, isAscending: words.last != "descending")
        }
    }

    /// The reason why no index can have the rows in that order, or `nil` if one can.
    var obstacle: Wording? {
        for key in keys {
            if let order = key.order {
                return
                    "An index keeps texts in byte order, but \(property: key.path) is sorted by another collation "
                    + "(\(order)). Store a copy whose byte order matches it and sort by the copy, or fetch fewer rows."
            }
            if key.path.contains(".") {
                return "\(property: key.path) is in another table, and an index covers only one. Keep a copy of it in "
                    + "\(entity: shape.entity), or sort the objects."
            }
        }
        return nil
    }

    /// The index that has the rows in order.
    ///
    /// Properties compared with a single value come first.
    var index: IndexProposal {
        let entity = profile.entity(shape.entity)
        let fixed = (shape.terms ?? []).filter {
            $0.isEquality && $0.operation == "==" && entity?.hasColumn($0.keyPath) == true
        }
        return IndexProposal(
            entity: shape.entity,
            elements: fixed.map { .init(property: $0.keyPath) }
                + keys.map { .init(property: $0.path, isAscending: $0.isAscending) },
            equalities: fixed.count)
    }

    /// Whether the table has such an index, which SQLite does not use.
    var exists: Bool {
        guard obstacle == nil, let table = profile.entity(shape.entity)?.table else { return false }
        let index = index
        let order = index.elements.dropFirst(index.equalities).map { $0.column + ($0.isAscending ? "" : " DESC") }
        let fixed = Set(index.elements.prefix(index.equalities).map(\.column))
        return profile.tableIndexes.contains { $0.table == table && $0.indexes.hasRows(equalIn: fixed, inOrder: order) }
    }

    private var properties: Wording { .properties(keys.map(\.path)) }

    var title: Wording {
        if exists {
            return
                "Run ANALYZE: SQLite sorts \(entity: shape.entity) although the index on \(index.properties) has the "
                + "rows in order"
        }
        return obstacle == nil
            ? "Index \(entity: shape.entity) by \(index.properties) to avoid the sort"
            : "Avoid sorting \(rows: UInt64(sorted)) of \(entity: shape.entity) by \(properties) in each fetch"
    }

    var fix: Wording {
        if exists {
            return
                "Without statistics, SQLite assumes that a comparison for equality on any indexed column matches few "
                + "rows, even on the one that distinguishes the entities of a table. " + AnalyzeAdvice.fix
        }
        if obstacle == nil, index.namesColumns { return index.modelFix }
        return obstacle == nil
            ? "Columns compared for equality come first in the index, then the sort keys in their order. If the order "
                + "does not matter, leave the sort descriptors out." + statistics
            : "If the order does not matter, leave the sort descriptors out; if all rows are loaded anyway, sort the objects."
    }

    /// A sentence about what SQLite needs to choose the index in a table that several entities share.
    private var statistics: Wording {
        guard let root = profile.entity(shape.entity)?.root, root != shape.entity else { return "" }
        return
            " Until ANALYZE has run on the table of \(entity: root), SQLite prefers the index on the column of the "
            + "entity."
    }

    var code: [String] { exists ? AnalyzeAdvice.code : obstacle == nil ? index.code : [] }

    var remedy: Remedy? {
        if exists { return .analyze([fetch.key]) }
        return obstacle == nil ? index.remedy(for: [fetch.key]) : nil
    }

    var explanation: [Wording] {
        let counts = fetch.counts
        let times: Wording = counts.sorts == 1 ? "" : "\(count: counts.sorts) times, on average "
        let rows: Wording = "\(isEstimated ? "at least " : "")\(rows: UInt64(sorted.rounded()))"
        let taken: Wording =
            isCut
            ? " for the \(count: counts.rows / max(1, counts.executions)) that the limit returns" : ""
        let sentence: Wording = "SQLite sorted \(times)\(rows)\(taken): \(duration: counts.time) in all."
        guard obstacle == nil, let extended else { return [sentence] }
        return [
            sentence,
            "SQLite already seeks the rows with \(code: extended). With the sort keys appended, this index also "
                + "returns them in order.",
        ]
    }

    /// The index that finds the rows and could be extended to have them in order, or `nil` if there is none or every
    /// store has it for a relationship.
    private var extended: String? {
        guard index.equalities > 0, let search = fetch.statements.commonPlan.flatMap(StatementTable.ownSearch),
            let match = search.wholeMatch(of: /SEARCH t0 USING (?:COVERING )?INDEX (\S+) \((.*)\)/)
        else { return nil }
        let compared = match.2.split(separator: " AND ")
        let columns = Set(compared.map { $0.prefix { $0 != "=" } }.map(String.init))
        let fixed = Set(index.elements.prefix(index.equalities).map(\.column))
        return columns == fixed && compared.allSatisfy { $0.hasSuffix("=?") } && !match.1.hasSuffix("_INDEX")
            ? String(match.1) : nil
    }
}
