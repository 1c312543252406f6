internal import FaultlineTrace

/// A temporary table of a program, which is gone when its trace is read.
package struct TemporaryTable: Sendable, Hashable {
    package var name: String
    /// The statements that create a table of that name, and its indexes, in the main database.
    package var creation: [String]
    /// The statements that filled it.
    package var insertions: [String] = []
    /// The rows that it had, on average, each time it was filled; 0 if that is not known.
    package var rows: UInt64 = 0
    /// The columns of other tables that statements compare with its own, by the names of those in lowercase.
    package var partners: [String: StatementSlots.Column] = [:]
    /// The other tables of statements that name it, sorted.
    package var companions: [String] = []

    /// The statement without the name of the database of temporary tables.
    package static func unqualified(_ sql: String) -> String {
        let tokens = StatementText.tokens(of: sql)
        var (text, rest) = ("", sql.startIndex)
        for index in tokens.indices.dropLast(2) where tokens[index].isKeyword("TEMP") && tokens[index + 1].text == "." {
            text += sql[rest..<tokens[index].range.lowerBound]
            rest = tokens[index + 1].range.upperBound
        }
        return text + sql[rest...]
    }

    /// The table that a statement creates in the database of temporary tables, with the statement that creates it elsewhere.
    init?(creation sql: String) {
        let tokens = StatementText.tokens(of: sql)
        guard tokens.count > 3, tokens[0].isKeyword("CREATE") else { return nil }
        let isTemporary = tokens[1].isKeyword("TEMP") || tokens[1].isKeyword("TEMPORARY")
        let word = isTemporary ? 2 : 1
        guard tokens[word].isKeyword("TABLE") else { return nil }
        let start = tokens[word + 1].isKeyword("IF") ? word + 4 : word + 1
        guard let path = StatementText.name(at: start, in: tokens[...]), let name = path.last,
            isTemporary || path.count == 2 && path[0].uppercased() == "TEMP"
        else { return nil }
        let end = tokens[start + 2 * path.count - 2].range.upperBound
        self.name = name
        creation = ["CREATE TABLE \(StatementText.quoted(name))" + sql[end...]]
    }
}

extension Profile {
    /// The temporary tables of the program, in the order of their names.
    package var temporaryTables: [TemporaryTable] {
        var tables: [String: TemporaryTable] = [:]
        var fillings: [String: UInt64] = [:]
        let groups = hotspots.compactMap { group -> (sql: String, group: EventGroup)? in
            guard case .statement(let sql) = group.key.subject, group.key.kind == .sql else { return nil }
            return (sql, group)
        }.ordered(on: \.sql)
        for (sql, group) in groups {
            guard let table = TemporaryTable(creation: sql) else { continue }
            let name = table.name.lowercased()
            if tables[name] == nil { tables[name] = table }
            fillings[name, default: 0] &+= group.count
        }
        guard !tables.isEmpty else { return [] }
        for (sql, group) in groups {
            if let index = TemporaryTable.indexed(by: sql)?.lowercased() {
                tables[index]?.creation.append(TemporaryTable.unqualified(sql))
            }
            guard group.key.statementType == .write, let name = StatementText.changed(by: sql)?.lowercased(),
                tables[name] != nil, let verb = StatementText.tokens(of: sql).first
            else { continue }
            if verb.isKeyword("INSERT") || verb.isKeyword("REPLACE") {
                tables[name]?.insertions.append(TemporaryTable.unqualified(sql))
                tables[name]?.rows &+= group.counts.rows
            } else if verb.isKeyword("DELETE"),
                !StatementText.tokens(of: sql).contains(where: { $0.isKeyword("WHERE") })
            {
                // It is filled again.
                fillings[name, default: 0] &+= group.count
            }
        }
        let uses = Set(groups.map(\.sql)).sorted().map { StatementSlots($0) }
        return tables.ordered(on: \.key).map { name, table in
            var table = table
            table.rows /= max(1, fillings[name] ?? 1)
            table.addPartners(in: uses.filter { $0.tables.contains { $0.lowercased() == name } })
            return table
        }
    }
}

extension TemporaryTable {
    /// - Parameter uses: Statements that name the table.
    fileprivate mutating func addPartners(in uses: [StatementSlots]) {
        let name = name.lowercased()
        let isOwn = { (column: StatementSlots.Column) in column.table?.lowercased() == name }
        for pair in uses.flatMap(\.joins) {
            let columns = pair.ordered(on: { $0.table ?? "" })
            guard let own = columns.first(where: isOwn), let other = columns.first(where: { !isOwn($0) }) else {
                continue
            }
            partners[own.name.lowercased()] = other
        }
        companions = Set(uses.flatMap(\.tables)).filter { $0.lowercased() != name }.sorted()
    }

    /// The table on which a statement creates an index.
    fileprivate static func indexed(by sql: String) -> String? {
        let tokens = StatementText.tokens(of: sql)
        guard tokens.first?.isKeyword("CREATE") == true,
            let word = tokens.prefix(3).firstIndex(where: { $0.isKeyword("INDEX") }),
            let on = tokens[word...].firstIndex(where: { $0.isKeyword("ON") })
        else { return nil }
        return StatementText.name(at: on + 1, in: tokens[...])?.last
    }
}
