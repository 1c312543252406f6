internal import FaultlineFindings
package import FaultlineProfile
internal import FaultlineTrace

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
                    extent: Double(table.rows) / 500,
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
                    extent: Double(max(index.size, table.rows * 12)) / 65_536,
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
                    extent: Double(table.rows) / 2000,
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

/// R06 at rest, with the statements of a trace: indexes that none of them uses.
struct UnusedIndexEvaluator: StoreEvaluator {
    let rule = "R06"
    let name = "Unused index"

    func examined(_ facts: StoreFacts) -> Wording? {
        guard let use = facts.use, use.statements > 0 else { return nil }
        return "\(count: use.statements, "statement") of the trace"
    }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        guard let use = facts.use else { return [] }
        return facts.tables.filter { $0.rows >= Self.minimumRows }.flatMap { table -> [StoreAdvice] in
            // Of a table that the program does not use, the trace shows nothing.
            guard let runs = use.tables[table.name], !use.unclearTables.contains(table.name.lowercased()) else {
                return []
            }
            return table.indexes.filter { index in
                !use.indexes.contains(index.name) && Self.mayGo(index, of: table)
            }.map { advice(to: $0, of: table, runs, use, facts) }
        }
    }

    /// Whether an index serves queries alone, and plans for statements without values would show it.
    ///
    /// SQLite uses a partial index, or one of an expression, for values that the statements of a trace do not have.
    private static func mayGo(_ index: StoreFacts.Index, of table: StoreFacts.Table) -> Bool {
        let isOfReference = table.references.contains { $0.column == index.first }
        return !index.isConstraint && !index.isUnique && !index.isPartial && !index.hasExpressions
            && !index.belongsToStore && !isOfReference
    }

    private func advice(
        to index: StoreFacts.Index, of table: StoreFacts.Table, _ runs: StatementUse.Table, _ use: StatementUse,
        _ facts: StoreFacts
    ) -> StoreAdvice {
        let belongsToModel = facts.isCoreData && index.belongsToModel != false
        return finding(
            belongsToModel
                ? "Remove the index \(code: index.nameInModel) from the model" : "Drop the index \(code: index.name)",
            in: table, extent: Double(max(index.size, table.rows * 12)) / 65_536,
            fix: "First make sure that neither another program nor a rarer task needs it: a trace shows only what ran.",
            code: belongsToModel ? [] : ["DROP INDEX \(StatementText.quoted(index.name));"],
            explanation: [
                "None of the \(count: use.statements, "statement") in the trace uses it. The program read from "
                    + "\(entity: table.label) \(count: runs.reads, "time") and wrote to it \(count: runs.writes, "time")."
            ],
            evidence: [
                Evidence("rows", table.rows, .rows), Evidence("size", index.size, .bytes),
                Evidence("reads", runs.reads, .count), Evidence("writes", runs.writes, .count),
            ], what: index.name, trying: .dropUnusedIndex(table: table.name, index: index.name))
    }
}

/// The use that the statements of a program make of a database's tables and indexes, by SQLite's plans.
package struct StatementUse: Sendable, Hashable {
    /// The runs that read from a table, and those that wrote to it.
    package struct Table: Sendable, Hashable {
        package var reads: UInt64 = 0
        package var writes: UInt64 = 0

        package init() {}
    }

    /// The number of statements with different texts whose tables are known.
    package var statements: UInt64 = 0
    /// The number of other statements, which do not fit the database.
    package var strangers: UInt64 = 0
    /// The tables that they read or write, by name.
    package var tables: [String: Table] = [:]
    /// The names of the indexes that they use, or that the plans would not show.
    package var indexes: Set<String> = []
    /// The tables, in lowercase, whose indexes are used by statements without a plan, if at all: statements that do not fit
    /// the database, and those of triggers.
    package var unclearTables: Set<String> = []

    package init() {}
}

/// The statements of a trace, and the indexes in its plans.
package struct RecordedStatements: Sendable {
    package var statements: [RecordedStatement]
    /// The lines of SQLite's plans in the trace, which name indexes; none if they come from a profile.
    package var planLines: Set<String>

    package init(_ statements: [RecordedStatement], planLines: Set<String> = []) {
        self.statements = statements
        self.planLines = planLines
    }
}

/// A statement of a trace, without its values.
package struct RecordedStatement: Sendable, Hashable {
    /// The text, in which `?` stands for a value.
    package var sql: String
    package var runs: UInt64

    package init(sql: String, runs: UInt64) {
        self.sql = sql
        self.runs = runs
    }
}

extension Profile {
    /// The statements that read or write rows, in alphabetical order.
    package var recordedStatements: [RecordedStatement] {
        let types: Set<TraceEvent.Statement.StatementType?> = [.read, .write, nil]
        let runs = groups.reduce(into: [String: UInt64]()) { sum, group in
            guard case .statement(let sql) = group.key.subject, types.contains(group.key.statementType) else { return }
            sum[sql, default: 0] &+= group.count
        }
        return runs.ordered(on: \.key).map { RecordedStatement(sql: $0.key, runs: $0.value) }
    }
}
