internal import FaultlineTrace

/// A statement that SQLite is asked about, on a copy of the program's database.
package struct StatementToExamine: Sendable, Hashable {
    /// The statement, without literals.
    package var sql: String
    package var executions: UInt64
    /// The rows that its runs returned or changed.
    package var rows: UInt64
    /// The steps of SQLite's virtual machine that its runs took; 0 if that is not known.
    package var steps: UInt64
    /// A few texts with the values of runs; none if the trace has no values.
    package var samples: [String]

    /// Whether it deletes or updates rows, to which others may refer.
    package var deletesOrUpdates: Bool {
        StatementText.tokens(of: sql).contains { $0.isKeyword("DELETE") || $0.isKeyword("UPDATE") }
    }

    package init(sql: String, executions: UInt64, rows: UInt64, steps: UInt64 = 0, samples: [String] = []) {
        (self.sql, self.executions, self.rows, self.steps, self.samples) = (sql, executions, rows, steps, samples)
    }
}

extension Profile {
    /// The statements outside any operation of an object store, each with its groups at the lines that run it, the one with
    /// the most time first.
    package var statementHotspots: [(sql: String, groups: [EventGroup])] {
        var groups: [String: [EventGroup]] = [:]
        for group in hotspots {
            guard case .statement(let sql) = group.key.subject, group.key.kind == .sql,
                [.read, .write].contains(group.key.statementType)
            else { continue }
            groups[sql, default: []].append(group)
        }
        return groups.ordered(on: \.key).map { sql, groups in
            (sql, groups.ordered { ($0.totalTime, $1.key.sortText) > ($1.totalTime, $0.key.sortText) })
        }
    }
}

extension Profile {
    /// The most statements to examine.
    private static let mostExamined = 24

    /// The statements that take a noticeable part of the run, and many steps for their rows: those outside any operation of an
    /// object store, and those that read rows for fetches; of each the longest first.
    package var statementsToExamine: [StatementToExamine] {
        let whole = max(wallTime, totals.storeTime)
        let fetched = fetchedStatements.filter { $0.runs.isWorthExamining(of: whole) }.map(StatementToExamine.init)
        return longestStatements(Self.mostExamined) { $0.isWorthExamining(of: whole) }
            + fetched.prefix(Self.mostExamined)
    }

    /// The minimum share of the run and rows of a run whose columns are weighed, and the most statements.
    private static let weighedShare = 0.05
    private static let weighedRows: UInt64 = 20
    private static let mostWeighed = 8

    /// The statements outside any operation of an object store that take a large part of the run and return lists of rows; the
    /// longest first.
    ///
    /// Their columns are the same whatever the steps, so the values need not fit the steps.
    package var statementsToWeigh: [StatementToExamine] {
        let least = Self.weighedShare * Double(max(wallTime, totals.storeTime))
        return longestStatements(Self.mostWeighed) { group in
            group.key.statementType == .read && Double(group.totalTime) >= least
                && group.counts.rows >= Self.weighedRows &* group.count
        }.map { statement in
            var statement = statement
            statement.steps = 0
            return statement
        }
    }

    /// The statements outside any operation of an object store whose runs at all lines together meet a condition, the longest
    /// first.
    private func longestStatements(_ most: Int, where isWanted: (EventGroup) -> Bool) -> [StatementToExamine] {
        let samples = Dictionary(statementSamples.map { ($0.key.sql, $0.evidence.texts) }) { one, _ in one }
        return statementHotspots.map { sql, groups in
            (sql: sql, group: groups.dropFirst().reduce(into: groups[0]) { $0.merge($1) })
        }
        .filter { isWanted($0.group) }
        .ordered { ($0.group.totalTime, $1.sql) > ($1.group.totalTime, $0.sql) }.prefix(most)
        .map { sql, group in
            StatementToExamine(
                sql: sql, executions: group.count, rows: group.counts.rows, steps: group.counts.virtualMachineSteps,
                samples: samples[sql] ?? [])
        }
    }
}

extension StatementToExamine {
    fileprivate init(sql: String, runs: StatementTable.Runs) {
        self.init(sql: sql, executions: runs.count, rows: runs.rows, steps: runs.virtualMachineSteps)
    }
}

extension Profile {
    /// The statements that read rows for fetches of an object store, the longest first.
    var fetchedStatements: [(sql: String, runs: StatementTable.Runs)] {
        var all: [String: StatementTable.Runs] = [:]
        for fetch in fetches {
            for (sql, plans) in fetch.statements.texts {
                for runs in plans.values { all[sql, default: .init()].merge(runs) }
            }
        }
        return all.ordered { ($0.value.time, $1.key) > ($1.value.time, $0.key) }.map { ($0.key, $0.value) }
    }
}

extension Profile {
    /// The most statements to check for disadvantages.
    private static let mostChecked = 50

    /// The statements that read rows, which a new index could make slower; the longest first.
    package var statementsToProtect: [StatementToExamine] {
        let fetched = fetchedStatements.prefix(Self.mostChecked).map(StatementToExamine.init)
        return fetched
            + statementHotspots.filter { $0.groups[0].key.statementType == .read }
            .map { sql, groups in
                StatementToExamine(
                    sql: sql, executions: groups.reduce(0) { $0 &+ $1.count },
                    rows: groups.reduce(0) { $0 &+ $1.counts.rows })
            }
            .prefix(Self.mostChecked).map { $0 }
    }
}

extension Profile {
    /// The rows that statements outside any operation of an object store wrote to a table, and the nanoseconds they took, if an
    /// index on some columns has to follow.
    ///
    /// The rows of a table that the program created do not count: its index can be created once the table is filled.
    ///
    /// - Parameter columns: Columns or expressions. An `UPDATE` of others leaves the index as it is.
    package func writes(to table: String, indexedBy columns: [String]) -> (rows: UInt64, time: UInt64) {
        guard !createdTables.contains(table.lowercased()) else { return (0, 0) }
        return statementHotspots.reduce((0, 0)) { sums, statement in
            guard statement.groups[0].key.statementType == .write,
                StatementText.changes(table, by: statement.sql, in: columns)
            else { return sums }
            return statement.groups.reduce(sums) { ($0.rows &+ $1.counts.rows, $0.time &+ $1.totalTime) }
        }
    }

    /// The rows of an entity's table that saves and batch requests wrote, if an index on some columns has to follow.
    ///
    /// Without their statements in the trace, every written row counts.
    package func writes(of entity: String, to table: String, indexedBy columns: [String]) -> UInt64 {
        let all = writes(of: entity)
        guard all > 0 else { return 0 }
        let changes = groups.compactMap { group -> (sql: String, rows: UInt64)? in
            guard case .statement(let sql) = group.key.subject, group.key.kind == .sql,
                group.key.statementType == .write
            else { return nil }
            return (sql, group.counts.rows)
        }
        guard changes.contains(where: { StatementText.changed(by: $0.sql)?.lowercased() == table.lowercased() }) else {
            return all
        }
        return min(
            all,
            changes.reduce(0) { StatementText.changes(table, by: $1.sql, in: columns) ? $0 &+ $1.rows : $0 })
    }

    /// The minimum steps of SQLite's virtual machine to create a table; it takes a few to find that one exists.
    private static let stepsOfCreation: UInt64 = 16

    /// The tables that the program created, in lowercase.
    private var createdTables: Set<String> {
        Set(
            hotspots.compactMap { group -> String? in
                guard case .statement(let sql) = group.key.subject, group.key.kind == .sql,
                    group.counts.virtualMachineSteps >= Self.stepsOfCreation &* group.count
                else { return nil }
                let tokens = StatementText.tokens(of: sql).prefix(12)
                guard tokens.first?.isKeyword("CREATE") == true,
                    let word = tokens.firstIndex(where: { $0.isKeyword("TABLE") })
                else { return nil }
                let hasCondition = word + 1 < tokens.endIndex && tokens[word + 1].isKeyword("IF")
                return StatementText.name(at: word + (hasCondition ? 4 : 1), in: tokens)?.last?.lowercased()
            })
    }

    /// The tables to which statements outside any operation of an object store wrote, in lowercase.
    package var writtenTables: Set<String> {
        Set(
            statementHotspots.filter { $0.groups[0].key.statementType == .write }
                .compactMap { StatementText.changed(by: $0.sql)?.lowercased() }
        ).subtracting(createdTables)
    }
}

extension Profile {
    /// The settings of a connection that change SQLite's plans, and their values.
    private static let planning: Set<String> = ["AUTOMATIC_INDEX", "CASE_SENSITIVE_LIKE", "REVERSE_UNORDERED_SELECTS"]
    private static let switches: Set<String> = ["ON", "OFF", "YES", "NO", "TRUE", "FALSE", "0", "1"]

    /// The statements with which the program changed how SQLite plans, as far as it did so in one way only.
    package var planningSettings: [String] {
        var found: [String: Set<String>] = [:]
        for group in hotspots {
            guard case .statement(let sql) = group.key.subject, group.key.kind == .sql else { continue }
            let words = StatementText.tokens(of: sql).map { $0.text.uppercased() }
            guard words.count >= 4, words[0] == "PRAGMA", Self.planning.contains(words[1]),
                Self.switches.contains(words[3])
            else { continue }
            found[words[1], default: []].insert("PRAGMA \(words[1].lowercased()) = \(words[3])")
        }
        return found.ordered(on: \.key).compactMap { $0.value.count == 1 ? $0.value.first : nil }
    }
}

extension EventGroup {
    /// The minimum share of the run, and the minimum steps of SQLite's virtual machine for each run, and for each row.
    private static let examinedShare = 0.01
    private static let examinedSteps: UInt64 = 2000
    private static let stepsPerRow: UInt64 = 30

    fileprivate func isWorthExamining(of whole: UInt64) -> Bool {
        Self.isWorthExamining(
            totalTime, of: whole, count, steps: counts.virtualMachineSteps, rows: counts.rows, sorts: counts.sorts > 0)
    }

    fileprivate static func isWorthExamining(
        _ time: UInt64, of whole: UInt64, _ count: UInt64, steps: UInt64, rows: UInt64, sorts: Bool
    ) -> Bool {
        Double(time) >= examinedShare * Double(whole) && steps >= examinedSteps &* count
            && (steps >= stepsPerRow &* rows || sorts)
    }
}

extension StatementTable.Runs {
    /// A fetch that sorts is R19's subject.
    fileprivate func isWorthExamining(of whole: UInt64) -> Bool {
        EventGroup.isWorthExamining(time, of: whole, count, steps: virtualMachineSteps, rows: rows, sorts: false)
    }
}
