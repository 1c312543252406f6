internal import FaultlineFindings
internal import FaultlineProfile
import FaultlineTrace

/// R09 at rest: columns with large values, in tables of many rows or of many bytes.
struct LargeColumnEvaluator: StoreEvaluator {
    let rule = "R09"
    let name = "Large values in rows"

    /// The minimum 95th percentile of the sizes of a column's values.
    static let minimumSize: UInt64 = 16 << 10
    static let minimumRows: UInt64 = 100
    /// The minimum bytes of a column's values in a table of fewer rows.
    static let minimumBytes = 4_194_304.0

    func examined(_ facts: StoreFacts) -> Wording? {
        let columns = facts.tables.reduce(0) { $0 + $1.columns.count }
        return columns == 0 ? nil : "the values of \(count: UInt64(columns), "column")"
    }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.flatMap { table -> [StoreAdvice] in
            let others = table.columns.filter { !$0.isInternal && !$0.isComputed }
            // A table with almost nothing else is the right place for large values.
            let rest = others.filter { $0.largestSize < Self.minimumSize }
            guard rest.count > 1 else { return [] }
            return others.filter { column in
                column.largestSize >= Self.minimumSize
                    && (table.rows >= Self.minimumRows || column.meanSize * Double(table.rows) >= Self.minimumBytes)
            }.map { column in
                finding(
                    "Move \(property: "\(table.label).\(column.label)") into a table of its own", in: table,
                    extent: Double(column.largestSize) * Double(table.rows) / 1_048_576,
                    fix: Self.fix(column.meanSize, "\(table.label).\(column.label)", isCoreData: facts.isCoreData),
                    explanation: [
                        "\(property: "\(table.label).\(column.label)") takes about \(size: column.meanSize * Double(table.rows)) of the table, "
                            + "everything else \(size: rest.reduce(0) { $0 + $1.meanSize } * Double(table.rows)). In "
                            + "\(rows: table.rows), the average value has \(size: column.meanSize), and 95 % have at most "
                            + "\(size: column.largestSize)."
                    ],
                    evidence: [
                        Evidence("rows", table.rows, .rows), Evidence("meanSize", column.meanSize, .bytes),
                        Evidence("largestSize", column.largestSize, .bytes),
                        Evidence("largeShare", column.largeShare, .share),
                    ], what: column.name, trying: .moveOut(table: table.name, column: column.name))
            }
        }
    }

    private static func fix(_ meanSize: Double, _ name: String, isCoreData: Bool) -> Wording {
        let place = isCoreData ? "an entity" : "a table"
        if meanSize >= 102_400 {
            return "Store \(property: name) in files, or move it into \(place) of its own: rows with values of this "
                + "size fill the page cache and the row cache."
        }
        return "Move \(property: name) into \(place) of its own, which is read only where it is needed."
    }
}

/// R09 at rest: small columns stored after large ones, which SQLite must read through to reach them.
///
/// SQLite stores a row's columns in order. Content that does not fit the page goes into a chain of overflow pages
/// (https://www.sqlite.org/fileformat2.html#overflow_pages).
struct HiddenColumnEvaluator: StoreEvaluator {
    let rule = "R09"
    let name = "Columns behind large values"

    static let minimumRows: UInt64 = 100

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.filter { $0.rows >= Self.minimumRows }.compactMap { table in
            // Content that fits the page needs no overflow pages.
            var before = 0.0
            var hidden: [StoreFacts.Column] = []
            var large: StoreFacts.Column?
            for column in table.columns {
                if let large, !column.isInternal, !column.isComputed, column.name != large.name,
                    before >= Double(facts.pageSize),
                    column.meanSize < 1024, column.emptyShare < 1
                {
                    hidden.append(column)
                }
                before += column.meanSize
                if large == nil, column.meanSize >= Double(facts.pageSize) { large = column }
            }
            guard let large, !hidden.isEmpty else { return nil }
            let names = Wording.properties(hidden.map(\.label))
            let pages = Double(large.meanSize) / Double(facts.pageSize)
            return finding(
                "Put \(property: "\(table.label).\(large.label)") after \(names)", in: table,
                extent: pages * Double(table.rows) / 500,
                fix: facts.isCoreData
                    ? "Core Data orders the columns by type and name, binary data last: move the large value into an entity of its "
                        + "own, or make it binary data."
                    : "Rebuild the table with the large columns last, and the columns that are read often first.",
                explanation: [
                    "To read \(names), SQLite follows about \(decimal: pages, places: 0) pages of "
                        + "\(property: large.label) in each of \(rows: table.rows)."
                ],
                evidence: [
                    Evidence("rows", table.rows, .rows), Evidence("hiddenColumns", Double(hidden.count), .count),
                    Evidence("meanSize", large.meanSize, .bytes),
                ], what: "order",
                trying: .reorder(table: table.name, large: large.name, hidden: hidden.map(\.name)))
        }
    }
}

/// R15 at rest: mostly empty tables of inheritance trees.
struct SparseTableEvaluator: StoreEvaluator {
    let rule = "R15"
    let name = "Sparse inheritance table"

    func examined(_ facts: StoreFacts) -> Wording? {
        let trees = facts.tables.filter { $0.kinds.count > 1 }
        return trees.isEmpty
            ? nil : "\(count: trees.count, "table of several entities", plural: "tables of several entities")"
    }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.filter { $0.rows >= Self.minimumRows && $0.kinds.count >= SparseTableRule.minimumEntities.count }
            .compactMap { table in
                // A column that every entity uses does not make the table sparse.
                let partial = table.columns.filter { !$0.isInternal && !$0.emptyKinds.isEmpty }
                let share = partial.reduce(0) { $0 + $1.emptyShare } / Double(max(1, partial.count))
                guard partial.count >= SparseTableRule.minimumColumns.count, share >= SparseTableRule.minimumShare.value
                else {
                    return nil
                }
                let kinds = table.kinds.ordered { ($0.value, $1.key) > ($1.value, $0.key) }
                let words = kinds.prefix(6).map { "\(entity: $0.key) (\(count: $0.value, of: .rows))" as Wording }
                    .joined(separator: ", ")
                return finding(
                    "Give the entities in \(code: table.name) tables of their own: they share few properties",
                    in: table,
                    extent: share * Double(table.rows) / 500,
                    fix:
                        "Entities without a common parent have tables of their own. Properties that they share can "
                        + "move to a related entity.",
                    explanation: [
                        "\(count: table.kinds.count) entities share the table: \(words). "
                            + "\(count: partial.count) columns are empty for some of them; \(percent: share) of their values are "
                            + "NULL."
                    ],
                    evidence: [
                        Evidence("rows", table.rows, .rows), Evidence("entities", Double(table.kinds.count), .count),
                        Evidence("columns", Double(partial.count), .count), Evidence("emptyShare", share, .share),
                    ], trying: .split(table: table.name))
            }
    }
}
