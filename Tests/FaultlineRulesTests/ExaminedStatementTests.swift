import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R06 and R22: statements that SQLite was asked about")
struct ExaminedStatementTests {
    private static let sql = "SELECT id FROM book WHERE lower(title) = ? ORDER BY day"

    private func profile(
        _ sql: String = sql, file: String? = "/srv/shop.sqlite", attached: [String: String]? = nil, times: Int = 4,
        duration: UInt64 = 20_000_000, writing writes: [String] = [], reads: UInt32 = 0
    ) -> Profile {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql, file: file, attached: attached)))
        (statement.type, statement.rows, statement.fullScanSteps) = (.read, 1, 9_999)
        (statement.virtualMachineSteps, statement.sorts, statement.fileReads) = (40_000, 1, reads)
        let stack = trace.stack(12)
        for _ in 0..<times { trace.event(.sql(statement), duration: duration, stack: stack) }
        for write in writes {
            var statement = TraceEvent.Statement()
            statement.statement = trace.define(.statement(StatementEntry(sql: write, file: file)))
            (statement.type, statement.rows) = (write.hasPrefix("CREATE") ? .schema : .write, 10)
            statement.virtualMachineSteps = 30
            trace.event(.sql(statement), duration: 1_000_000, stack: stack)
        }
        return Profile(trace.closed())
    }

    private func tuning(
        _ columns: [String] = ["lower(title)"], analyzes: Bool = false, after: UInt64 = 20, sorts: UInt64 = 0,
        afterTime: Double = 10_000, hasValues: Bool = false, slower: [StatementTuning.Slowdown] = []
    ) -> StatementTuning {
        let indexes =
            columns.isEmpty
            ? []
            : [
                StatementTuning.Index(
                    table: "book", columns: columns,
                    code: "CREATE INDEX book_lower_title ON book(\(columns.joined(separator: ", ")))")
            ]
        return StatementTuning(
            indexes: indexes, analyzes: analyzes, runs: 2,
            before: .init(steps: 80_000, sorts: 1, time: 40_000_000, plan: ["SCAN book"]),
            after: .init(steps: after, sorts: sorts, time: afterTime, plan: ["SEARCH book USING INDEX"]),
            hasRecordedValues: hasValues, slower: slower)
    }

    private func analysis(_ examination: StatementExamination?, _ profile: Profile? = nil) -> Analysis {
        var examinations = IndexExaminations()
        examinations[Self.sql] = examination
        return Analysis(profile ?? self.profile(), knowing: examinations)
    }

    @Test func `A measured index is a finding with the steps before and after it`() throws {
        let finding = try #require(analysis(.change(tuning())).findings.first)
        #expect(finding.rule == "R06" && finding.severity >= .warning)
        #expect(finding.title.text == "Create an index on book(lower(title))")
        #expect(finding.change?.description == "Scroll.swift:12")
        #expect(finding.code == ["CREATE INDEX book_lower_title ON book(lower(title))"])
        #expect(
            finding.explanation.dropFirst().map(\.text) == [
                "On a copy of the database, 2 runs with values from the copy took 80,000 steps of SQLite's virtual machine "
                    + "and 40.0 ms, and with the change 20 and 10.0 µs.",
                "SQLite's plan: SCAN book. With the change: SEARCH book USING INDEX.",
            ])
        #expect(finding.saving.time.median == 80_000_000 * (1 - 20.0 / 80_000))
        #expect(finding.confidence.level == .medium)
        let recorded = try #require(analysis(.change(tuning(hasValues: true))).findings.first)
        #expect(recorded.confidence == .high)
    }

    @Test func `ANALYZE alone is a finding about plans`() throws {
        let finding = try #require(analysis(.change(tuning([], analyzes: true))).findings.first)
        #expect(finding.rule == "R22" && finding.code == ["ANALYZE"])
        #expect(finding.title.text == "Run ANALYZE: SQLite misjudges the tables of a statement")
    }

    @Test func `An index that needs statistics is advised together with ANALYZE`() throws {
        let finding = try #require(analysis(.change(tuning(analyzes: true))).findings.first)
        #expect(finding.title.text == "Create an index on book(lower(title)), and run ANALYZE")
        #expect(finding.code.last == "ANALYZE")
    }

    @Test func `A change that saves little is a note`() throws {
        let half = try #require(
            analysis(.change(tuning(after: 40_000, sorts: 1, afterTime: 36_000_000))).findings.first)
        #expect(half.severity == .note && half.reservations.map(\.text) == ["It saves less than 80 % of the work."])
        let short = try #require(
            analysis(
                .change(tuning(after: 8000, sorts: 1, afterTime: 4_000_000)), profile(times: 1, duration: 2_000_000)
            ).findings.first)
        #expect(short.severity == .note && short.reservations.map(\.text) == ["It saves less than 5.00 ms."])
        let slower = tuning(slower: [.init(sql: "SELECT DISTINCT kind FROM book", before: 300, after: 600_000)])
        let harmful = try #require(analysis(.change(slower)).findings.first)
        #expect(harmful.reservations.map(\.text) == ["It makes 1 other statement slower."])
        #expect(
            harmful.explanation.last?.text
                == "But SELECT DISTINCT kind FROM book then takes 600,000 steps instead of 300.")
    }

    @Test func `Runs that are unlike the recorded ones give little confidence`() throws {
        var other = tuning()
        other.resemblesRecording = false
        let finding = try #require(analysis(.change(other)).findings.first)
        #expect(finding.confidence.level == .low && finding.severity >= .warning)
    }

    @Test func `An index on a table that the statement does not name is explained`() throws {
        var other = tuning()
        other.indexes = [.init(table: "loan", columns: ["book_id"], code: "CREATE INDEX loan_book_id ON loan(book_id)")]
        let finding = try #require(analysis(.change(other)).findings.first)
        #expect(
            finding.explanation.last?.text
                == "The statement does not name loan: a view makes SQLite look there.")
    }

    @Test func `The saving is the share of the time on the copy, or of the steps if that is too short`() {
        #expect(tuning(after: 60_000, afterTime: 4_000_000).savedShare == 0.9)
        #expect(tuning(after: 60_000, afterTime: 50_000_000).savedShare == 0)
        var short = tuning(after: 60_000)
        short.before.time = 900_000
        #expect(short.savedShare == 0.25)
    }

    @Test func `Unexplained work says that no index helps, or why SQLite could not be asked`() throws {
        let nothing = try #require(analysis(.nothing(hasRecordedValues: true)).unexplained.first)
        #expect(
            nothing.explanation.last?.text
                == "SQLite was asked on a copy of the database: no index that it would use, and no statistics, save steps."
        )
        let drawn = try #require(analysis(.nothing(hasRecordedValues: false)).unexplained.first)
        #expect(
            drawn.explanation.last?.text
                == "Record with --values to try those of the program.")
        let unasked = try #require(analysis(.notExamined("No such function: slug.")).unexplained.first)
        #expect(
            unasked.explanation.last?.text == "SQLite could not be asked about indexes. No such function: slug.")
        var omitted = IndexExaminations()
        for sql in ["a", "b"] { omitted[sql] = .notExamined("No such function: slug.") }
        #expect(
            Analysis(profile(), knowing: omitted).checks.first { $0.rule == "R06" }?.obstacles.map(\.text)
                == ["SQLite could not be asked about 2 statements. No such function: slug."])
        var problem = IndexExaminations()
        problem.problem = "The file is gone."
        let checks = Analysis(profile(), knowing: problem).checks
        #expect(
            checks.first { $0.rule == "R06" }?.obstacles.map(\.text)
                == ["SQLite was not asked about indexes. The file is gone."])
    }

    @Test func `No rule guesses what SQLite has answered`() {
        let profile = self.profile("SELECT id FROM book WHERE title = ?")
        #expect(Analysis(profile).findings.map(\.rule) == ["R06"])
        var examinations = IndexExaminations()
        examinations["SELECT id FROM book WHERE title = ?"] = .nothing(hasRecordedValues: false)
        #expect(Analysis(profile, knowing: examinations).findings.isEmpty)
        examinations["SELECT id FROM book WHERE title = ?"] = .notExamined("It failed.")
        #expect(Analysis(profile, knowing: examinations).findings.map(\.rule) == ["R06"])
    }

    @Test func `Statements with many steps are examined on the file that the trace names`() throws {
        let profile = self.profile()
        #expect(profile.statementsToExamine.map(\.sql) == [Self.sql])
        #expect(profile.mainDatabase == "/srv/shop.sqlite")
        let stored = try Profile(fileData: profile.fileData())
        #expect(stored.mainDatabase == "/srv/shop.sqlite")
        #expect(self.profile(file: nil).mainDatabase == nil)
    }

    @Test func `The files of attached databases are those that the trace names`() throws {
        let profile = self.profile(attached: ["old logs": "/srv/old logs/a.sqlite", "b": "/b"])
        let stored = try Profile(fileData: profile.fileData())
        #expect(
            stored.databases(attachedTo: "/srv/shop.sqlite") == ["old logs": "/srv/old logs/a.sqlite", "b": "/b"])
        #expect(stored.databases(attachedTo: "/srv/other.sqlite").isEmpty)
    }

    @Test func `A column with most of the bytes of a list is a finding in the mapper's words`() throws {
        var examinations = IndexExaminations()
        func findings(bytes: Double, share: Double) -> [Finding] {
            examinations.widestColumns[Self.sql] = WideColumn(name: "cover", bytes: bytes, share: share, rows: 500)
            return Analysis(profile(), rules: [UnreadColumnRule(knowing: examinations)]).findings
        }
        let finding = try #require(findings(bytes: 120_000, share: 0.95).first)
        #expect(finding.rule == "R30" && finding.severity == .warning)
        #expect(finding.title.text == "Leave cover out of lists of book that do not show it")
        #expect(finding.explanation.first?.text.hasSuffix("cover has 117 KiB on average, 95 % of a row.") == true)
        #expect(finding.saving.time.median == 80_000_000 * 0.95)
        #expect(findings(bytes: 4000, share: 0.95).isEmpty && findings(bytes: 120_000, share: 0.7).isEmpty)
    }

    @Test func `Pages that are read again and again tell of a small cache`() throws {
        var examinations = IndexExaminations()
        func cause(pages: UInt64) throws -> String? {
            examinations.pages = (pages, 4096)
            let work = Analysis(profile(reads: 30_000), knowing: examinations).unexplained.first
            return try #require(work).explanation.last?.text
        }
        let advice =
            "Enlarge the cache of the connection, if the memory is there: PRAGMA cache_size = -32768 holds 32.0 MiB."
        // Four runs scan the table, each of which reads all pages once.
        #expect(try cause(pages: 5500) == advice)
        #expect(try cause(pages: 6500)?.contains("cache_size") == false)
    }

    @Test func `Settings of the program's connections that change plans are known`() {
        let profile = self.profile(writing: [
            "PRAGMA automatic_index = OFF", "PRAGMA cache_size = 0", "PRAGMA case_sensitive_like = 1",
            "pragma CASE_SENSITIVE_LIKE = 0", "PRAGMA reverse_unordered_selects = ?",
        ])
        #expect(profile.planningSettings == ["PRAGMA automatic_index = OFF"])
    }

    @Test func `Columns of different types explain why no index helps`() throws {
        let mismatch = TypeMismatch(column: "thumb.book", type: "TEXT", other: "book.id", otherType: "INTEGER")
        let work = try #require(
            analysis(.nothing(hasRecordedValues: false, mismatches: [mismatch])).unexplained.first)
        let sentence =
            "It compares thumb.book, which is TEXT, with book.id, which is INTEGER: for that, SQLite uses no index on thumb.book. "
            + "Declare both with the same type."
        #expect(work.explanation.last?.text == sentence)
    }

    @Test func `The saving is net of the time that writes take longer with the index`() throws {
        var change = tuning()
        change.indexes[0].insertion = .init(without: 1000, with: 3000)
        let profile = self.profile(writing: [
            "INSERT INTO book(title) VALUES(?)", "UPDATE book SET title = ? WHERE id = ?",
            "UPDATE book SET (day, note) = (?, ?)", "DELETE FROM book WHERE id = ?", "INSERT INTO shelf VALUES(?)",
        ])
        let finding = try #require(analysis(.change(change), profile).findings.first)
        let upkeep =
            "Maintaining the index on book(lower(title)) makes writing a row 3.0 times as long on the copy: about 6.00 ms for "
            + "30 rows that the program wrote. The saving is net of that."
        #expect(finding.explanation.last?.text == upkeep)
        let gain = 80_000_000 * (1 - 20.0 / 80_000)
        #expect(finding.saving.time.median == gain - 6_000_000)
        // The index can be created when the table is filled.
        let created = self.profile(writing: [
            "CREATE TABLE IF NOT EXISTS main.book(title)", "INSERT INTO book(title) VALUES(?)",
        ])
        #expect(try #require(analysis(.change(change), created).findings.first).saving.time.median == gain)
        change.indexes[0].insertion = .init(without: 1000, with: 40_000)
        let dear = try #require(analysis(.change(change), profile).findings.first)
        #expect(dear.severity == .note && dear.saving.time.median == 0)
        #expect(dear.reservations.last?.text == "Maintaining the index would cost more than it saves here.")
    }
}
