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
            in: table, score: Score.of(Double(max(index.size, table.rows * 12)), info: 65_536, warning: 67_108_864),
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
