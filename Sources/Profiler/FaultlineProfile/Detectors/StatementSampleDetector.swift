package import FaultlineTrace

/// Collects statements with their values, from traces that have some, for trials on a copy of the database.
package struct StatementSampleDetector: EvidenceDetector {
    package static let name = "statementSamples"
    package static let kinds: Set<EventKind> = [.sql]
    package static let holdsValues = true
    /// The most statements to keep.
    private static let capacity = 1024

    package var evidence: [StatementSite: StatementSamples] = [:]

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        guard case .sql(let statement) = event.detail, statement.values != 0, event.parent == 0, statement.error == 0,
            let sql = context.dictionary.statement(statement.statement)?.sql,
            let text = context.dictionary.name(statement.values)
        else { return }
        // Runs at all lines are alike.
        let key = StatementSite(sql: sql, site: nil)
        guard evidence.count < Self.capacity || evidence[key] != nil else { return }
        evidence[key, default: StatementSamples()].merge(StatementSamples([text]))
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

/// A few texts of one statement, each with the values of a run.
package struct StatementSamples: Sendable {
    /// The texts, in alphabetical order.
    package private(set) var texts: [String]

    /// The most texts to keep.
    private static let most = 24

    init(_ texts: [String]) { self.texts = texts }
}

extension StatementSamples: Mergeable, StartsEmpty {
    package init() { self.init([]) }

    package mutating func merge(_ other: StatementSamples) {
        texts = Array(Set(texts).union(other.texts).sorted().prefix(Self.most))
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue { StoredValue(texts) }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        texts = Array(Set(try value.texts()).sorted().prefix(Self.most))
    }
}

extension Profile {
    /// A few texts with values of each statement outside any operation of an object store, if the trace has them.
    package var statementSamples: [(key: StatementSite, evidence: StatementSamples)] {
        evidence(of: StatementSampleDetector.self)
    }
}
