internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// A habit that makes a statement slow whatever indexes there are, with the change that helps.
enum KnownCause {
    /// All rows are sorted in random order.
    case randomOrder
    /// All rows of a table, or all that match a condition, are counted.
    case count(hasCondition: Bool)
    /// The same rows are read again after each write to their tables.
    case refreshes(UInt64)
    /// One run returns very many rows.
    case manyRows(UInt64)
    /// Rows are written to many different pages.
    case scatteredWrites(reads: UInt64, rows: UInt64)
    /// Pages are read from the file again and again.
    case smallCache(pages: UInt64, size: UInt64)
    /// The whole file is rewritten, checked or read for statistics.
    case wholeFile(String)
    /// The JSON of each row is taken apart by a function, such as `json_each`.
    case json(String)
    /// A subquery or a view is computed with all its rows before a condition of the statement around it applies.
    case wholeSubquery
    /// A list is made of all rows of a subquery in each run, to look up a few values.
    case list
    /// The program runs it for each row of another statement, and each run returns many rows.
    case manyRowsEach(origin: String, rows: UInt64)

    /// The minimum rows of a run that are very many.
    static let manyRows: UInt64 = 50_000
    /// The minimum runs after writes.
    private static let leastRefreshes: UInt64 = 10
    /// The minimum reads from the file for each written row, and in all, of scattered writes.
    private static let readsPerRow = 0.2
    private static let leastReads: UInt64 = 1000

    /// The minimum reads from the file for each of its pages, and in all, of a cache that is too small.
    private static let readsPerPage: UInt64 = 5
    private static let manyReads: UInt64 = 20_000

    /// The minimum runs that make a list, and the minimum steps of SQLite's virtual machine for each run and row.
    fileprivate static let leastLists: UInt64 = 5
    fileprivate static let stepsOfList: UInt64 = 500

    /// Whether SQLite read the pages of the file again and again.
    ///
    /// A scan reads all pages of a table in each run.
    static func readsAgain(_ group: EventGroup, _ examinations: IndexExaminations) -> Bool {
        guard let pages = examinations.pages?.count, group.key.kind == .sql else { return false }
        let visits = group.counts.fullScanSteps > 0 ? group.count : 1
        return group.counts.fileReads >= max(manyReads, readsPerPage &* pages &* visits)
    }

    /// What the profile tells about a statement beside its counts.
    struct Circumstances {
        /// The runs with the same values as the one before, between which a table of the statement was written.
        var refreshes: UInt64 = 0
        /// The lines of SQLite's plans that scan.
        var scans: Set<String> = []
        /// The statement whose rows a loop of its runs processes.
        var origin: String?

        init(_ sql: String, _ profile: Profile) {
            for scan in profile.statementScans where scan.key.sql == sql { scans.formUnion(scan.evidence.scans) }
            for repeated in profile.repeatedStatements where repeated.key.sql == sql {
                refreshes &+= repeated.evidence.refreshes
            }
            let origins = profile.statementLoops.filter { $0.key.sql == sql }.flatMap(\.evidence.origins)
            origin = origins.max { ($0.value, $1.key.sortText) < ($1.value, $0.key.sortText) }?.key.sql
        }
    }

    /// The cause of a statement's time, or `nil` if none is known.
    ///
    /// - Parameter examinations: With the pages of the database.
    init?(
        _ sql: String, _ group: EventGroup, _ circumstances: Circumstances, _ examinations: IndexExaminations = .init()
    ) {
        let tokens = StatementText.tokens(of: sql)
        guard let first = tokens.first?.text.uppercased() else { return nil }
        let (counts, runs) = (group.counts, max(1, group.count))
        if first == "VACUUM" || first == "REINDEX" || first == "ANALYZE" {
            self = .wholeFile(first)
        } else if first == "PRAGMA", let check = tokens.first(where: Self.isCheck) {
            self = .wholeFile(check.text)
        } else if Self.sortsRandomly(tokens) {
            self = .randomOrder
        } else if group.takesManySteps, let function = Self.jsonFunction(tokens) {
            self = .json(function)
        } else if group.takesManySteps, circumstances.scans.contains(where: { $0.hasPrefix("SCAN (subquery") }) {
            self = .wholeSubquery
        } else if circumstances.refreshes >= Self.leastRefreshes, circumstances.refreshes &* 2 >= group.count {
            self = .refreshes(circumstances.refreshes)
        } else if group.makesLists {
            self = .list
        } else if Self.counts(tokens), counts.rows <= group.count {
            self = .count(hasCondition: tokens.contains { $0.isKeyword("WHERE") })
        } else if group.key.statementType == .read, counts.rows >= Self.manyRows &* runs {
            self = .manyRows(counts.rows / runs)
        } else if ["INSERT", "REPLACE"].contains(first), counts.fileReads >= Self.leastReads,
            Double(counts.fileReads) >= Self.readsPerRow * Double(counts.rows), counts.fullScanSteps == 0
        {
            self = .scatteredWrites(reads: counts.fileReads, rows: counts.rows)
        } else if let origin = circumstances.origin, counts.rows >= StatementLoopRule.manyRows &* runs {
            self = .manyRowsEach(origin: StatementText(origin).summary, rows: counts.rows / runs)
        } else if let pages = examinations.pages, Self.readsAgain(group, examinations) {
            self = .smallCache(pages: pages.count, size: pages.size)
        } else {
            return nil
        }
    }

    /// A power of two of KiB that holds all pages, at most 256 MiB.
    private static func kibibytes(_ pages: UInt64, _ size: UInt64) -> UInt64 {
        var all: UInt64 = 1024
        while all < 262_144, all &* 1024 < pages &* size { all *= 2 }
        return all
    }

    private static func isCheck(_ token: StatementText.Token) -> Bool {
        ["INTEGRITY_CHECK", "QUICK_CHECK", "WAL_CHECKPOINT"].contains(token.text.uppercased())
    }

    /// The function that takes the JSON of a column apart.
    private static func jsonFunction(_ tokens: [StatementText.Token]) -> String? {
        tokens.indices.dropLast(2).first { place in
            (tokens[place].isKeyword("JSON_EACH") || tokens[place].isKeyword("JSON_TREE"))
                && tokens[place + 1].text == "(" && tokens[place + 2].isName
        }.map { tokens[$0].text.lowercased() }
    }

    private static func sortsRandomly(_ tokens: [StatementText.Token]) -> Bool {
        zip(tokens, tokens.dropFirst()).contains { $0.isKeyword("BY") && $1.isKeyword("RANDOM") }
    }

    /// Whether a statement returns the number of rows, and nothing else: `SELECT count(*) FROM book`.
    private static func counts(_ tokens: [StatementText.Token]) -> Bool {
        guard tokens.count > 5, tokens[0].isKeyword("SELECT"), tokens[1].isKeyword("COUNT"), tokens[2].text == "(",
            let end = tokens.firstIndex(where: { $0.text == ")" })
        else { return false }
        let rest = tokens[(end + 1)...].prefix { !$0.isKeyword("FROM") }
        return !rest.contains { $0.text == "," } && !tokens.contains { $0.isKeyword("GROUP") }
    }

    /// Sentences about the cause, and what to do.
    var sentences: [Wording] {
        switch self {
        case .randomOrder:
            [
                "\(code: "ORDER BY random()") reads and sorts all rows for the few that it returns.",
                "Choose random keys in the program, and read the rows with \(code: "WHERE id >= ? ORDER BY id LIMIT 1").",
            ]
        case .count(hasCondition: false):
            [
                "\(code: "count(*)") without a condition steps over the whole table, or over its smallest index, each time.",
                "Keep the number, for instance in a row that triggers update, or leave it out.",
            ]
        case .count(hasCondition: true):
            [
                "To count the rows that match, SQLite reads all of them.",
                "For a list of pages, count only up to a limit: \(code: "SELECT count(*) FROM (SELECT 1 FROM … LIMIT 1001)").",
            ]
        case .refreshes(let runs):
            [
                "\(count: runs, "run") repeated the one before with the same values, because a table of the statement had been written "
                    + "in between.",
                "Write all rows before reading again, in one transaction if the program observes the table, or read only what changed.",
            ]
        case .manyRows(let rows):
            [
                "Each run returns \(rows: rows) to the program.",
                "If the program uses few of them, or sums them up, put the condition or the sum into the statement.",
            ]
        case .scatteredWrites(let reads, let rows):
            [
                "SQLite read \(count: reads, "page") of the file to write \(rows: rows), because each row goes to another place in "
                    + "the table or in an index.",
                "Use keys that grow, such as \(code: "INTEGER PRIMARY KEY") or time-ordered UUIDs, write the rows in the order of "
                    + "their keys, or drop indexes that no statement uses: \(code: "faultline inspect") lists them.",
            ]
        case .smallCache(let pages, let size):
            [
                "The database has \(count: pages, "page"), so SQLite read them again and again: its cache holds too few of those that "
                    + "the statement visits.",
                "Enlarge the cache of the connection, if the memory is there: "
                    + "\(code: "PRAGMA cache_size = -\(Self.kibibytes(pages, size))") holds "
                    + "\(size: Double(Self.kibibytes(pages, size)) * 1024).",
            ]
        case .json(let function):
            [
                "\(code: function) takes the JSON of each row apart in each run, and no index serves a search in its elements.",
                "Keep the elements in a table of their own, a row for each, with an index on the element.",
            ]
        case .wholeSubquery:
            [
                "SQLite computes a subquery, or a view, with all its rows before it applies the condition around it. It cannot move the "
                    + "condition inside past a window function, \(code: "LIMIT"), or an aggregate.",
                "Put the condition into the subquery, or query the tables of the view directly.",
            ]
        case .list:
            [
                "In each run, SQLite makes a list of all rows of the subquery in \(code: "IN (SELECT …)"), to look up a few values.",
                "Write \(code: "EXISTS (SELECT 1 FROM … WHERE … = …)") or \(code: "NOT EXISTS"), which look up single rows, with "
                    + "an index on the columns that they compare.",
            ]
        case .manyRowsEach(let origin, let rows):
            [
                "The program runs it for each row of \(code: Phrase.shortened(origin, to: 90)), and each run returns \(rows: rows).",
                "If it only asks whether there are rows, or how many, put \(code: "EXISTS") or \(code: "count(*)") into that "
                    + "statement.",
            ]
        case .wholeFile("VACUUM"):
            [
                "\(code: "VACUUM") reads the whole file and rewrites it.",
                "Run it when much of the data has been deleted, and not at every start.",
            ]
        case .wholeFile("REINDEX"):
            [
                "\(code: "REINDEX") rebuilds every index.",
                "It is needed only when a collation or an indexed function has changed.",
            ]
        case .wholeFile("ANALYZE"):
            [
                "\(code: "ANALYZE") reads every index.",
                "Run it when much of the data has changed, and not at every start: \(code: "PRAGMA optimize") decides that.",
            ]
        case .wholeFile(let word) where word.uppercased() == "WAL_CHECKPOINT":
            [
                "A checkpoint copies the write-ahead log into the database, and waits for the disk.",
                "SQLite runs one by itself whenever the log has 1,000 pages (\(code: "PRAGMA wal_autocheckpoint")): leave it to that.",
            ]
        case .wholeFile(let word):
            [
                "\(code: word) reads the whole file.",
                "Run it rarely, and not at every start.",
            ]
        }
    }
}

extension EventGroup {
    /// Whether each run of its statement looks up values among the many rows of a subquery: `IN (SELECT …)`.
    var makesLists: Bool {
        guard case .statement(let sql) = key.subject, count >= KnownCause.leastLists,
            counts.virtualMachineSteps >= KnownCause.stepsOfList &* max(counts.rows, count)
        else { return false }
        let tokens = StatementText.tokens(of: sql)
        return tokens.indices.dropLast(2).contains {
            tokens[$0].isKeyword("IN") && tokens[$0 + 1].text == "(" && tokens[$0 + 2].isKeyword("SELECT")
        }
    }
}
