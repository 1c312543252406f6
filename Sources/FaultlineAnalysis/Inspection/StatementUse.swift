internal import FaultlineTrace

/// The use that the statements of a program make of a database's tables and indexes, by SQLite's plans.
public struct StatementUse: Sendable, Hashable {
    /// The runs that read from a table, and those that wrote to it.
    public struct Table: Sendable, Hashable {
        public var reads: UInt64 = 0
        public var writes: UInt64 = 0

        public init() {}
    }

    /// The number of statements with different texts whose tables are known.
    public var statements: UInt64 = 0
    /// The number of other statements, which do not fit the database.
    public var strangers: UInt64 = 0
    /// The tables that they read or write, by name.
    public var tables: [String: Table] = [:]
    /// The names of the indexes that they use, or that the plans would not show.
    public var indexes: Set<String> = []
    /// The tables, in lowercase, whose indexes are used by statements without a plan, if at all: statements that do not fit
    /// the database, and those of triggers.
    public var unclearTables: Set<String> = []

    public init() {}
}

/// The statements of a trace, and the indexes in its plans.
public struct RecordedStatements: Sendable {
    public var statements: [RecordedStatement]
    /// The lines of SQLite's plans in the trace, which name indexes; none if they come from a profile.
    public var planLines: Set<String>

    public init(_ statements: [RecordedStatement], planLines: Set<String> = []) {
        self.statements = statements
        self.planLines = planLines
    }
}

/// A statement of a trace, without its values.
public struct RecordedStatement: Sendable, Hashable {
    /// The text, in which `?` stands for a value.
    public var sql: String
    public var runs: UInt64

    public init(sql: String, runs: UInt64) {
        self.sql = sql
        self.runs = runs
    }
}

extension Profile {
    /// The statements that read or write rows, in alphabetical order.
    public var recordedStatements: [RecordedStatement] {
        let types: Set<TraceEvent.Statement.StatementType?> = [.read, .write, nil]
        let runs = groups.reduce(into: [String: UInt64]()) { sum, group in
            guard case .statement(let sql) = group.key.subject, types.contains(group.key.statementType) else { return }
            sum[sql, default: 0] &+= group.count
        }
        return runs.ordered(on: \.key).map { RecordedStatement(sql: $0.key, runs: $0.value) }
    }
}
