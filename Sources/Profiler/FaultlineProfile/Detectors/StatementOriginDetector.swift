package import FaultlineTrace

/// Notes which database files statements ran on, with those attached to them, and for which library.
package struct StatementOriginDetector: EvidenceDetector {
    package static let name = "statementOrigins"
    package static let kinds: Set<EventKind> = [.sql]
    /// The most statements to keep.
    private static let capacity = 1024

    package var evidence: [StatementSite: StatementOrigins] = [:]
    /// The statements whose first run was observed.
    ///
    /// The other runs are like it.
    private var seen: Set<DictionaryID> = []

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        guard case .sql(let statement) = event.detail, !seen.contains(statement.statement),
            let entry = context.dictionary.statement(statement.statement)
        else { return }
        // A statement of an object store is part of a fetch or a save.
        guard event.parent == 0 || entry.file != nil else {
            seen.insert(statement.statement)
            return
        }
        let key = StatementSite(sql: entry.sql, site: nil)
        guard evidence.count < Self.capacity || evidence[key] != nil else { return }
        seen.insert(statement.statement)
        let library = context.library(on: event.stack)
        evidence[key, default: StatementOrigins()].merge(
            StatementOrigins(
                files: Set([entry.file].compactMap { $0 }),
                attached: Set((entry.attached ?? [:]).map { "\($0.key) \($0.value)" }),
                libraries: Set([library?.rawValue].compactMap { $0 })))
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

/// The database files that a statement ran on, and the libraries that ran it.
package struct StatementOrigins: Summed, StartsEmpty {
    /// The paths, as far as the trace has them.
    var files: Set<String> = []
    /// The names of attached databases, each followed by a space and the absolute path.
    var attached: Set<String> = []
    /// Names of ``StatementLibrary``.
    package var libraries: Set<String> = []

    package init() {}

    init(files: Set<String>, attached: Set<String>, libraries: Set<String>) {
        (self.files, self.attached, self.libraries) = (files, attached, libraries)
    }
}

extension StatementOrigins {
    package static let parts: [SumPart<StatementOrigins>] = [
        .union("files", \.files), .union("attached", \.attached), .union("libraries", \.libraries),
    ]
}

extension Profile {
    /// The origins of statements outside any operation of an object store, and of those that ran on a file.
    package var statementOrigins: [(key: StatementSite, evidence: StatementOrigins)] {
        evidence(of: StatementOriginDetector.self)
    }

    /// The library that runs a statement, or `nil` if that is not known.
    package func library(of sql: String) -> StatementLibrary? {
        statementOrigins.first { $0.key.sql == sql }.flatMap { StatementLibrary(names: $0.evidence.libraries) }
    }

    /// The database file on which the statements to examine took the most time, or `nil` if the trace names none.
    package var mainDatabase: String? {
        let files = Dictionary(statementOrigins.map { ($0.key.sql, $0.evidence.files) }) { $0.union($1) }
        var times: [String: UInt64] = [:]
        for (sql, groups) in statementHotspots {
            for file in files[sql] ?? [] { times[file, default: 0] &+= groups.reduce(0) { $0 &+ $1.totalTime } }
        }
        for (sql, runs) in fetchedStatements {
            for file in files[sql] ?? [] { times[file, default: 0] &+= runs.time }
        }
        return times.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// The databases that were attached when statements ran on a file: their names and paths.
    ///
    /// If a name stood for several files, the first in alphabetical order counts.
    package func databases(attachedTo file: String) -> [String: String] {
        let all = statementOrigins.filter { $0.evidence.files.contains(file) }.flatMap(\.evidence.attached)
        return Dictionary(
            all.compactMap { text in
                text.firstRange(of: " /").map { (String(text[..<$0.lowerBound]), "/" + text[$0.upperBound...]) }
            }
        ) { min($0, $1) }
    }
}
