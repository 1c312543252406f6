/// R06 at rest: columns that refer to other tables, or that joins use, and that have no index.
struct MissingIndexEvaluator: StoreEvaluator {
    let rule = "R06"
    let name = "Missing index"

    func examined(_ facts: StoreFacts) -> Wording? {
        let references = facts.tables.reduce(0) { $0 + $1.references.count }
        return references == 0
            ? nil
            : "\(count: references, "reference to another table", plural: "references to other tables")"
    }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.filter { $0.rows >= Self.minimumRows }.flatMap { table in
            table.references.filter { reference in
                reference.filled > 0 && reference.column != table.key
                    && !table.indexes.contains { $0.first == reference.column && !$0.isPartial }
            }.map { reference in
                let column = table.columns.first { $0.name == reference.column }
                let target = facts.table(reference.table)?.label ?? reference.table
                return finding(
                    "Index \(entity: table.label) by \(property: column?.label ?? reference.column)", in: table,
                    score: Score.of(Double(table.rows), info: 500, warning: 500_000),
                    fix: facts.isCoreData
                        ? "Add a fetch index to \(entity: table.label) in the model, and let the store migrate."
                        : "SQLite then seeks the rows that refer to one \(entity: target), in queries and when it is "
                            + "deleted.",
                    code: Self.code(table, reference.column, column?.property, isCoreData: facts.isCoreData),
                    explanation: [
                        "\(code: reference.column) refers to \(entity: target) and has no index: each look-up from there scans "
                            + "\(rows: table.rows)."
                    ],
                    evidence: [
                        Evidence("rows", table.rows, .rows), Evidence("distinct", reference.distinct, .count),
                    ], what: reference.column,
                    trying: .createIndex(table: table.name, column: reference.column))
            }
        }
    }

    /// The code to write: SQL, or a declaration for the model from which a Core Data store is made.
    private static func code(
        _ table: StoreFacts.Table, _ column: String, _ property: String?, isCoreData: Bool
    ) -> [String] {
        guard isCoreData else {
            let quoted = StatementText.quoted
            return ["CREATE INDEX \(quoted(table.name + "_" + column)) ON \(quoted(table.name)) (\(quoted(column)));"]
        }
        return property.map { name in
            ["FetchIndexDescription(\"by\(name.prefix(1).uppercased() + name.dropFirst())\", on: \"\(name)\")"]
        } ?? []
    }
}

/// Indexes that other indexes make redundant: each costs space, and time at every write.
struct RedundantIndexEvaluator: StoreEvaluator {
    let rule = "R06"
    let name = "Redundant index"

    func examined(_ facts: StoreFacts) -> Wording? {
        let indexes = facts.tables.reduce(0) { $0 + $1.indexes.count }
        return indexes == 0 ? nil : "\(count: indexes, "index", plural: "indexes")"
    }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.flatMap { table in
            table.indexes.indices.compactMap { position -> StoreAdvice? in
                let index = table.indexes[position]
                guard let other = Self.substitute(for: position, among: table.indexes) else { return nil }
                let belongsToModel = facts.isCoreData && index.belongsToModel != false
                return finding(
                    belongsToModel
                        ? "Remove the index \(code: index.nameInModel) from the model"
                        : "Drop the index \(code: index.name)", in: table,
                    score: Score.of(Double(max(index.size, table.rows * 12)), info: 65_536, warning: 67_108_864),
                    fix: Self.fix(of: index, table, facts),
                    code: belongsToModel ? [] : ["DROP INDEX \(StatementText.quoted(index.name));"],
                    explanation: [
                        "Its columns (\(code: index.columns.joined(separator: ", "))) are the first columns of "
                            + "\(code: other.name) (\(code: other.columns.joined(separator: ", ")))."
                    ],
                    evidence: [Evidence("rows", table.rows, .rows), Evidence("size", index.size, .bytes)],
                    what: index.name, trying: .dropIndex(table: table.name, index: index.name))
            }
        }
    }

    private static func fix(of index: StoreFacts.Index, _ table: StoreFacts.Table, _ facts: StoreFacts) -> Wording {
        let costs: Wording = "The other index serves its queries. Every written row pays for both."
        guard facts.isCoreData else { return costs }
        switch index.belongsToModel {
        case true?: return "Remove the fetch index from \(entity: table.label) in the model, and let the store migrate."
        case false?: return "The model does not have it, so no migration drops it. " + costs
        case nil:
            return "The store creates it from the model: from a fetch index of that name, or from an attribute that "
                + "is marked as indexed. Remove that from \(entity: table.label), and let the store migrate. If the "
                + "model has neither (check with --model), drop it with SQL."
        }
    }
}

extension RedundantIndexEvaluator {
    /// An index that finds everything this one finds, or `nil` if there is none or this one must stay.
    private static func substitute(for position: Int, among indexes: [StoreFacts.Index]) -> StoreFacts.Index? {
        let index = indexes[position]
        guard !index.isConstraint, !index.isUnique, !index.isPartial, !index.hasExpressions, !index.belongsToStore
        else {
            return nil
        }
        return indexes.indices.first { other in
            let candidate = indexes[other]
            guard other != position, !candidate.isPartial, !candidate.hasExpressions,
                Array(candidate.columns.prefix(index.columns.count)) == index.columns
            else { return false }
            // Of two equal indexes the later one is redundant, unless the store creates it.
            let isMore =
                candidate.columns.count > index.columns.count || candidate.isUnique || candidate.isConstraint
                || candidate.belongsToStore
            return isMore || other < position
        }.map { indexes[$0] }
    }
}

/// R16 at rest: tables whose rows each belong to one row of another table.
struct FoldedTableEvaluator: StoreEvaluator {
    let rule = "R16"
    let name = "Over-normalization"

    /// The maximum relative difference of the row counts, and the maximum number of small columns of the other table.
    static let tolerance = 0.1
    static let maximumColumns = 3

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        facts.tables.filter { $0.rows >= Self.minimumRows }.flatMap { table in
            table.references.compactMap { reference -> StoreAdvice? in
                guard let other = facts.table(reference.table), other.name != table.name,
                    isOnly(reference, of: table, to: other, facts),
                    abs(Double(other.rows) - Double(table.rows)) <= Self.tolerance * Double(table.rows),
                    reference.distinct == reference.filled,
                    Double(reference.filled) >= (1 - Self.tolerance) * Double(table.sampled)
                else { return nil }
                let own = other.columns.filter { !$0.isInternal && !refersBack($0.name, from: other, to: table) }
                guard !own.isEmpty, own.count <= Self.maximumColumns, own.allSatisfy({ $0.largestSize < 2048 }) else {
                    return nil
                }
                return finding(
                    "Fold \(entity: other.label) into \(entity: table.label)", in: table,
                    score: Score.of(Double(table.rows), info: 2000, warning: 2_000_000),
                    fix: "Each row of one table refers to one row of the other. In one table they are read together.",
                    explanation: [
                        "Each of \(rows: table.rows) of \(entity: table.label) refers to a different one of "
                            + "\(count: other.rows, of: .rows) of \(entity: other.label), which has only "
                            + "\(Wording.properties(own.map(\.label)))."
                    ],
                    evidence: [
                        Evidence("rows", table.rows, .rows), Evidence("otherRows", other.rows, .rows),
                        Evidence("columns", Double(own.count), .count),
                    ], what: reference.column,
                    trying: .fold(table: table.name, column: reference.column, into: other.name))
            }
        }
    }

    /// Whether only `reference` refers to the other table.
    ///
    /// A shared table must stay.
    ///
    /// If two tables refer to each other, the one with more columns absorbs the other.
    private func isOnly(
        _ reference: StoreFacts.Reference, of table: StoreFacts.Table, to other: StoreFacts.Table, _ facts: StoreFacts
    ) -> Bool {
        let users = facts.tables.flatMap { user in
            user.references.filter { $0.table == other.name && $0.filled > 0 }.map { (user.name, $0.column) }
        }
        guard users.count == 1 else { return false }
        guard other.references.contains(where: { $0.table == table.name }) else { return true }
        return (table.columns.count, other.name) > (other.columns.count, table.name)
    }

    /// Whether a column refers back to the table.
    private func refersBack(_ column: String, from other: StoreFacts.Table, to table: StoreFacts.Table) -> Bool {
        other.references.contains { $0.column == column && $0.table == table.name }
    }
}
