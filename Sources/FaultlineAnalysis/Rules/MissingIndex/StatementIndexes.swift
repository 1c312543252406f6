/// The indexes with which SQLite need not scan a table for a statement.
struct StatementIndexes {
    /// The table of the first index, and its columns.
    let table: String
    let columns: [String]
    /// The table that SQLite scans.
    let scanned: String
    /// The statements that create the indexes.
    let code: [String]

    /// The most columns of an index.
    private static let mostColumns = 3

    /// - Returns: `nil` if no index is certain to help: one condition of several suffices, a condition compares texts by
    ///   other rules than its column, or the compared columns are not those of the scanned table or of one joined to it.
    init?(_ text: StatementText, _ evidence: StatementScanEvidence) {
        let conditions = text.conditions
        // The steps of a page may be those behind its offset, which no index saves.
        guard !conditions.hasAlternatives, !conditions.hasCollation, !text.isPaged, !text.isGrouped, !text.isOfSQLite
        else { return nil }
        var compared: [(table: String, columns: [String])] = []
        for column in conditions.equalities {
            guard let table = column.table else { continue }
            let place = compared.firstIndex { $0.table == table } ?? compared.endIndex
            if place == compared.endIndex { compared.append((table, [])) }
            if !compared[place].columns.contains(column.name) { compared[place].columns.append(column.name) }
        }
        let index = { (table: String, columns: [String]) in
            StatementText.index(on: table, columns.map { .init(name: $0) })
        }
        if let found = compared.first(where: { evidence.mayScan($0.table, of: text) }) {
            (table, columns) = (found.table, Array(found.columns.prefix(Self.mostColumns)))
            scanned = table
            code = [index(table, columns)]
            return
        }
        // Rows of a joined table are chosen, but SQLite scans the other one, because neither has an index.
        for (table, columns) in compared {
            for join in conditions.joins {
                guard join.contains(where: { $0.table == table }),
                    let other = join.first(where: { $0.table != table }), let scanned = other.table,
                    evidence.mayScan(scanned, of: text)
                else { continue }
                (self.table, self.columns) = (table, Array(columns.prefix(Self.mostColumns)))
                self.scanned = scanned
                code = [index(table, self.columns), index(scanned, [other.name])]
                return
            }
        }
        return nil
    }
}
