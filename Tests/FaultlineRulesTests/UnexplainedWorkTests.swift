import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

/// A program that runs statements, and does other work for a tenth of a second.
private struct Program {
    var trace = TraceBuilder()
    private var statements: [String: DictionaryID] = [:]

    /// - Parameters:
    ///   - line: The line that runs it.
    ///   - time: In nanoseconds.
    mutating func run(
        _ sql: String, line: Int = 4, times: Int = 1, time: UInt64 = 50_000_000, plan: [String] = [],
        _ change: (inout TraceEvent.Statement) -> Void = { $0.rows = 1 }
    ) {
        var statement = TraceEvent.Statement()
        statement.statement = statements[sql] ?? trace.define(.statement(StatementEntry(sql: sql)))
        statements[sql] = statement.statement
        statement.type = .read
        if !plan.isEmpty {
            let lines = plan.enumerated().map { PlanEntry.Row(id: $0 + 1, parent: 0, detail: $1) }
            statement.plan = trace.define(.plan(PlanEntry(rows: lines)))
        }
        change(&statement)
        let stack = trace.stack(line)
        for _ in 0..<times { trace.event(.sql(statement), duration: time, stack: stack) }
    }

    func analysis(after pause: UInt64 = 100_000_000, _ rules: [any Rule] = Rules.all) -> Analysis {
        var trace = trace
        trace.now += pause
        return Analysis(Profile(trace.closed()), rules: rules)
    }
}

@Suite("Work that no finding explains")
struct UnexplainedWorkTests {
    private static let range = "SELECT * FROM reading WHERE g > ?"

    @Test func `A statement that takes much of the run is shown with its counts, its plan and what the rules left out`()
        throws
    {
        var program = Program()
        program.run(Self.range, times: 2, plan: ["SCAN reading"]) {
            ($0.rows, $0.fullScanSteps, $0.sorts) = (10, 59_999, 1)
        }
        program.run(Self.range, line: 9, time: 40_000_000)
        let analysis = program.analysis()
        #expect(analysis.findings.isEmpty)
        let work = try #require(analysis.unexplained.first)
        #expect(analysis.unexplained.count == 1 && work.whole == .run)
        #expect(work.group.key.site?.line == 4 && work.otherSites.map(\.line) == [9])
        #expect(
            work.explanation.map(\.text) == [
                "3 runs took 140 ms, 58 % of the run: half of them up to 50.0 ms, the longest 50.0 ms.",
                "SQLite stepped over 120,001 rows of tables for 21 rows.", "SQLite sorted 2 times.",
                "SQLite's plan: SCAN reading.",
                "R06 proposes no index, because no condition compares a column with one value.",
            ])
    }

    @Test func `A finding about the statement at its line explains it`() {
        var program = Program()
        program.run("SELECT * FROM book WHERE author_id = ?", times: 4, plan: ["SCAN book"]) {
            ($0.rows, $0.fullScanSteps) = (1, 9999)
        }
        #expect(program.analysis().findings.map(\.rule).contains("R06") && program.analysis().unexplained.isEmpty)
        #expect(program.analysis([]).unexplained.count == 1)
    }

    @Test func `A finding about how often it runs does not explain why each run takes many steps`() {
        for (steps, count) in [(59_999, 1), (0, 0)] as [(UInt32, Int)] {
            var program = Program()
            for value in 1...20 as ClosedRange<UInt64> {
                program.run("SELECT * FROM client WHERE id = ? COLLATE NOCASE") {
                    ($0.rows, $0.fullScanSteps, $0.parameters) = (1, steps, value)
                }
            }
            let analysis = program.analysis()
            #expect(analysis.findings.map(\.rule) == ["R27"])
            #expect(analysis.unexplained.count == count)
        }
    }

    @Test(
        "Only much time counts",
        arguments: [
            ("a fifth of the run", 20_000_000, 80_000_000, UnexplainedWork.Whole.run),
            ("little of the run, and all of the store's time", 120_000_000, 20_000_000_000, .store),
            ("little time", 90_000_000, 20_000_000_000, nil), ("less than 2 ms", 1_900_000, 1_000_000, nil),
        ] as [(String, UInt64, UInt64, UnexplainedWork.Whole?)])
    func share(name: String, time: UInt64, pause: UInt64, whole: UnexplainedWork.Whole?) {
        var program = Program()
        program.run(Self.range, time: time)
        #expect(program.analysis(after: pause).unexplained.first?.whole == whole)
    }

    @Test func `The time of disks, locks and preparing is named if it is a tenth`() throws {
        var program = Program()
        program.run("COMMIT", times: 3) {
            ($0.type, $0.syncTime, $0.syncs, $0.prepare) = (.transaction, 40_000_000, 2, 1000)
        }
        let work = try #require(program.analysis([]).unexplained.first)
        #expect(
            work.explanation.dropFirst().map(\.text) == [
                "120 ms of that it waited for the disk, in 6 syncs."
            ])
    }

    @Test func `A deletion that scans other tables points to their foreign keys`() throws {
        var program = Program()
        program.run("DELETE FROM message WHERE id BETWEEN ? AND ?") {
            ($0.type, $0.rows, $0.fullScanSteps) = (.write, 301, 36_000_000)
        }
        let work = try #require(program.analysis().unexplained.first)
        #expect(work.explanation.last?.text.contains("An index on each foreign key that refers to the table") == true)
    }

    @Test func `Fetches are shown too, unless a finding rests on them`() throws {
        var trace = TraceBuilder()
        let shape = trace.define(.shape(ShapeEntry(entity: "Item")))
        var fetch = TraceEvent.Fetch()
        (fetch.shape, fetch.rows, fetch.trips, fetch.step) = (shape, 100, 1, 30_000_000)
        trace.event(.fetch(fetch), duration: 40_000_000)
        let work = try #require(Analysis(Profile(trace.closed()), rules: []).unexplained.first)
        #expect(work.explanation.map(\.text) == ["1 run took 40.0 ms, 100 % of the run.", "It read 100 rows."])
    }

    /// The explanation of a list of books that the program reads again after each write to a table.
    private func explanation(writing table: String) throws -> String {
        var program = Program()
        for number in 0..<12 {
            program.run("SELECT id, title FROM book ORDER BY title") {
                ($0.rows, $0.parameters) = (UInt32(100 + number), 7)
            }
            program.run("INSERT INTO \(table) VALUES (?)", time: 10_000) { ($0.type, $0.rows) = (.write, 1) }
        }
        return try #require(program.analysis().unexplained.first).explanation.map(\.text).joined(separator: " ")
    }

    @Test func `A list that is read again after each write is said to be`() throws {
        #expect(
            try explanation(writing: "book").contains(
                "11 runs repeated the one before with the same values, because a table of the statement had been written in between. "
                    + "Write all rows before reading again"))
        #expect(try !explanation(writing: "log").contains("repeated the one before"))
    }
}

@Suite("Known causes of work that no index makes shorter")
struct KnownCauseTests {
    private func cause(
        _ sql: String, type: TraceEvent.Statement.StatementType = .read, rows: UInt32 = 1, reads: UInt32 = 0,
        runs: Int = 2
    ) -> [String] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        (statement.type, statement.rows, statement.fileReads) = (type, rows, reads)
        for _ in 0..<runs { trace.event(.sql(statement), duration: 20_000_000, stack: trace.stack(12)) }
        let work = Analysis(Profile(trace.closed()), rules: []).unexplained.first
        return work?.explanation.suffix(2).map(\.text) ?? []
    }

    @Test(
        "The report names the cause and the change that helps",
        arguments: [
            ("SELECT id FROM book ORDER BY RANDOM() LIMIT ?", 1, "ORDER BY random() reads and sorts all rows"),
            ("SELECT count(*) FROM book", 1, "count(*) without a condition steps over the whole table"),
            (
                "SELECT COUNT(*) AS n FROM (SELECT id FROM book WHERE body LIKE ?) AS a", 1,
                "To count the rows that match"
            ),
            ("SELECT * FROM trip WHERE user > ?", 60_000, "Each run returns 60,000 rows to the program."),
        ] as [(String, UInt32, String)])
    func habits(_ sql: String, rows: UInt32, beginning: String) throws {
        #expect(cause(sql, rows: rows).first?.hasPrefix(beginning) == true, "\(cause(sql, rows: rows))")
    }

    @Test func `Scattered writes and work on the whole file are named as causes`() {
        let scattered = cause("INSERT INTO doc VALUES (?, …)", type: .write, rows: 2000, reads: 1000)
        #expect(scattered.first?.hasPrefix("SQLite read 2,000 pages of the file to write 4,000 rows") == true)
        #expect(cause("VACUUM", type: .schema).first?.hasPrefix("VACUUM reads the whole file") == true)
        #expect(cause("REINDEX", type: .schema).first == "REINDEX rebuilds every index.")
        #expect(cause("ANALYZE", type: .schema).first == "ANALYZE reads every index.")
        #expect(
            cause("PRAGMA integrity_check", type: .schema).first?.hasPrefix("integrity_check reads the whole file")
                == true)
    }

    /// The last two sentences about a statement that scans for few rows.
    private func cause(ofScan sql: String, plan: [String]) -> [String] {
        var program = Program()
        program.run(sql, times: 3, plan: plan) { ($0.rows, $0.fullScanSteps) = (5, 300_000) }
        return program.analysis().unexplained.first?.explanation.suffix(2).map(\.text) ?? []
    }

    @Test func `Conditions that no index serves are named as causes`() {
        let json = "SELECT b.id FROM bookmark b, json_each(b.tags) j WHERE j.value = ?"
        let plan = ["SCAN b", "SCAN j VIRTUAL TABLE INDEX 1:"]
        #expect(cause(ofScan: json, plan: plan).first?.hasPrefix("json_each takes the JSON of each row apart") == true)
        let list = "SELECT id FROM bookmark WHERE name IN (SELECT value FROM json_each(?))"
        #expect(!cause(ofScan: list, plan: plan).contains { $0.contains("JSON") })
        let view = "SELECT at FROM timeline WHERE chat = ? ORDER BY pos DESC LIMIT ?"
        let subquery = cause(ofScan: view, plan: ["SCAN (subquery-5)", "SCAN event"])
        #expect(subquery.first?.hasPrefix("SQLite computes a subquery, or a view, with all its rows") == true)
    }

    @Test func `A list that each run makes of a subquery is named as a cause`() {
        let unread = "SELECT id FROM article WHERE feed = ? AND id NOT IN (SELECT article FROM seen WHERE reader = ?)"
        for (sql, runs, isCause) in [
            (unread, 10, true), (unread, 2, false),
            (unread.replacing("NOT IN (SELECT", with: "NOT EXISTS (SELECT"), 10, false),
        ] {
            var program = Program()
            for value in 1...UInt64(runs) {
                program.run(sql) { ($0.rows, $0.parameters, $0.virtualMachineSteps) = (20, value, 120_000) }
            }
            let words = program.analysis().unexplained.first?.explanation.map(\.text) ?? []
            let names = words.contains { $0.hasPrefix("In each run, SQLite makes a list of all rows") }
            #expect(names == isCause, "\(sql)")
        }
    }

    @Test func `Many rows for each row of another statement are named as a cause`() {
        var program = Program()
        program.run("SELECT id FROM album ORDER BY id") { $0.rows = 40 }
        for value in 1...40 as ClosedRange<UInt64> {
            program.run("SELECT id FROM track WHERE album_id = ?") { ($0.rows, $0.parameters) = (300, value) }
        }
        let loop = program.analysis().unexplained.first?.explanation.map(\.text) ?? []
        #expect(
            loop.suffix(2).first
                == "The program runs it for each row of SELECT id FROM album ORDER BY id, and each run returns 300 rows."
        )
    }

    @Test(
        "Other statements have no known cause",
        arguments: [
            "SELECT count(*) FROM book GROUP BY author", "SELECT count(*), author FROM book",
            "SELECT a FROM book ORDER BY a",
            "PRAGMA user_version",
        ])
    func others(_ sql: String) {
        #expect(!cause(sql, rows: 40).contains { $0.contains("Keep the number") || $0.contains("reads") })
    }
}
