import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R28: small transactions")
struct SmallTransactionRuleTests {
    /// A program that inserts rows.
    private struct Importer {
        var trace = TraceBuilder()
        private var statements: [String: DictionaryID] = [:]
        private let stack: DictionaryID

        /// - Parameter library: A module of Python through which the program runs its statements.
        init(library: String? = nil) {
            guard let library else {
                stack = trace.stack(30)
                return
            }
            let frames = ["\(library)/connection.c", "/shop/import.py"].enumerated().map { index, file in
                FrameEntry(
                    address: "0x800000000000000\(index)", module: "Python",
                    locations: [.init(symbol: "f", function: "f", file: file, line: 30)])
            }
            for frame in frames { _ = trace.define(.frame(frame)) }
            stack = trace.define(.stack(StackEntry(frames: frames.map(\.address))))
        }

        mutating func run(
            _ sql: String, _ type: TraceEvent.Statement.StatementType = .write, duration: UInt64 = 500_000,
            pause: UInt64 = 1000, parent: EventID = 0, error: UInt32 = 0, wait: UInt64 = 0, syncTime: UInt64 = 0,
            line: Int = 30
        ) {
            let number = statements[sql] ?? trace.define(.statement(StatementEntry(sql: sql)))
            statements[sql] = number
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type, statement.error) = (number, type, error)
            (statement.rows, statement.wait) = (type == .write ? 1 : 0, wait)
            (statement.syncTime, statement.syncs) = (syncTime, syncTime > 0 ? 2 : 0)
            trace.event(
                .sql(statement), duration: duration, parent: parent, stack: line == 30 ? stack : trace.stack(line))
            trace.now += pause
        }

        mutating func transaction(writes: Int, end: String = "COMMIT", pause: UInt64 = 1000, syncTime: UInt64 = 0) {
            run("BEGIN", .transaction, duration: 1000)
            for _ in 0..<writes { run("INSERT INTO book VALUES (?, …)", duration: 5000) }
            run(end, .transaction, duration: 500_000, pause: pause, syncTime: syncTime)
        }

        var findings: [Finding] {
            Analysis(Profile(trace.closed()), rules: [SmallTransactionRule()]).findings
        }
    }

    @Test func `Writes outside any transaction are reported at their line`() throws {
        var importer = Importer()
        for _ in 0..<40 { importer.run("INSERT INTO book VALUES (?, …)") }
        let finding = try #require(importer.findings.first)
        #expect(importer.findings.count == 1 && finding.severity == .warning)
        #expect(finding.title.text == "Write the rows in one transaction instead of 40")
        #expect(finding.change?.description == "Scroll.swift:30")
        #expect(
            finding.explanation.map(\.text) == [
                "40 runs of INSERT INTO book VALUES (?, …) outside any transaction took 20.0 ms, 500 µs each."
            ])
        #expect(finding.code == ["BEGIN; …; COMMIT"])
        #expect(finding.saving.time.median == 40 * 480_000)
        let stored = try Profile(fileData: Profile(importer.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [SmallTransactionRule()]).findings == importer.findings)
    }

    @Test func `The explanation has the time that SQLite waited for the disk, if that is known`() throws {
        var implicit = Importer(), explicit = Importer()
        for _ in 0..<40 {
            implicit.run("INSERT INTO book VALUES (?, …)", syncTime: 450_000)
            explicit.transaction(writes: 1, syncTime: 400_000)
        }
        let sentence = { (percent: Int) in "SQLite waited for the disk in \(percent) % of that time." }
        #expect(try #require(implicit.findings.first).explanation.map(\.text).last == sentence(90))
        // Of BEGIN, the write and COMMIT, which take 506 µs.
        #expect(try #require(explicit.findings.first).explanation.map(\.text).last == sentence(79))
        let stored = try Profile(fileData: Profile(explicit.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [SmallTransactionRule()]).findings == explicit.findings)
    }

    @Test func `Transactions that read before they write may depend on one another`() throws {
        func finding(readFirst: Bool) throws -> Finding {
            var importer = Importer()
            for _ in 0..<40 {
                importer.run("BEGIN IMMEDIATE", .transaction, duration: 1000)
                for read in [readFirst, !readFirst] {
                    importer.run(
                        read ? "SELECT id FROM job WHERE state = ?" : "UPDATE job SET state = ? WHERE id = ?",
                        read ? .read : .write, duration: 5000)
                }
                importer.run("COMMIT", .transaction)
            }
            return try #require(importer.findings.first)
        }
        let reservation = "The transactions read before they write, so each may depend on the one before."
        let first = try finding(readFirst: true), last = try finding(readFirst: false)
        #expect(first.severity == .note && first.reservations.map(\.text) == [reservation])
        #expect(last.severity == .warning && last.reservations.isEmpty)
    }

    @Test func `Larger transactions are a note where connections wait for one another`() throws {
        var importer = Importer()
        for _ in 0..<40 { importer.run("INSERT INTO book VALUES (?, …)") }
        for _ in 0..<3 {
            var wait = TraceEvent.Wait()
            (wait.resource, wait.isBlocking, wait.tries) = (.sqlite, true, 1)
            importer.trace.event(.wait(wait), duration: 1_000_000)
        }
        let finding = try #require(importer.findings.first)
        #expect(
            finding.severity == .note
                && finding.reservations.map(\.text) == [
                    "Other connections write at the same time, and would wait longer for larger transactions."
                ])
    }

    @Test func `A Python connection that commits by itself gets a transaction of its own`() throws {
        var importer = Importer(library: "sqlite3")
        for _ in 0..<40 { importer.run("INSERT INTO book VALUES (?, …)", syncTime: 450_000) }
        let finding = try #require(importer.findings.first)
        #expect(
            finding.code == [
                #"connection.execute("BEGIN")"#, "connection.executemany(sql, rows)", #"connection.execute("COMMIT")"#,
            ])
        #expect(finding.alternatives.first?.text.contains("PRAGMA journal_mode = WAL") == true)
        var committed = Importer(library: "sqlite3")
        for _ in 0..<40 { committed.transaction(writes: 1) }
        #expect(committed.findings.first?.code.first == "with connection:")
    }

    @Test func `Waits for SQLite's lock are not the time of the writes`() throws {
        var importer = Importer()
        for _ in 0..<40 { importer.run("INSERT INTO book VALUES (?, …)", duration: 5_500_000, wait: 5_000_000) }
        let saved = try #require(importer.findings.first).saving.time.median
        #expect(abs(saved - 40 * 480_000) < 1)
    }

    @Test func `A commit for each row counts like a write outside any transaction`() throws {
        var importer = Importer()
        for _ in 0..<20 { importer.transaction(writes: 1) }
        let finding = try #require(importer.findings.first)
        #expect(
            finding.explanation.map(\.text) == [
                "20 runs of INSERT INTO book VALUES (?, …), each committed separately, took 10.1 ms, 506 µs each."
            ])
        #expect(finding.evidence.first { $0.name == "implicit" }?.value == 0)
    }

    @Test func `The statements that begin and end the transactions belong to the finding, at their lines`() throws {
        var importer = Importer()
        for number in 0..<40 {
            importer.run("BEGIN", .transaction, duration: 1000)
            importer.run("INSERT INTO book VALUES (?, …)", duration: 5000)
            importer.run("COMMIT", .transaction, pause: number == 19 ? 200_000_000 : 1000, line: 31)
        }
        let profile = Profile(importer.trace.closed())
        for analysis in [Analysis(profile), Analysis(try Profile(fileData: profile.fileData()))] {
            let finding = try #require(analysis.findings.first { $0.rule == "R28" })
            #expect(finding.title.text == "Write the rows in 2 transactions instead of 40")
            #expect(finding.seenAt.map { $0.site?.line } == [30, 31] && finding.seenAt.map(\.count) == [40, 40])
            #expect(analysis.unexplained.isEmpty)
        }
    }

    @Test func `A savepoint outside any transaction begins one, which its release ends`() throws {
        let insert = "INSERT INTO book VALUES (?, …)"
        var together = Importer()
        together.run("SAVEPOINT \"rows\"", .transaction)
        for _ in 0..<20 {
            together.run("savepoint rows", .transaction)
            together.run("SAVEPOINT row", .transaction)
            together.run(insert)
            together.run("ROLLBACK TO row;", .transaction)
            together.run("RELEASE SAVEPOINT rows", .transaction)
        }
        for _ in 0..<20 { together.run(insert) }
        #expect(together.findings.isEmpty)
        together.run("RELEASE rows", .transaction)
        for _ in 0..<20 { together.run(insert) }
        #expect(together.findings.first?.evidence.first?.value == 20)
        var apart = Importer()
        for _ in 0..<20 {
            apart.run("SAVEPOINT row", .transaction)
            apart.run(insert)
            apart.run("RELEASE row", .transaction)
        }
        let finding = try #require(apart.findings.first)
        #expect(finding.explanation.first?.text.hasPrefix("20 runs of \(insert), each committed separately,") == true)
        var inside = Importer()
        inside.run("BEGIN", .transaction)
        for _ in 0..<20 {
            inside.run("SAVEPOINT row", .transaction)
            inside.run(insert)
            inside.run("RELEASE row", .transaction)
        }
        #expect(inside.findings.isEmpty)
    }

    @Test(
        "Good writes are not reported",
        arguments: [
            ("one transaction", 1, 1000, "COMMIT"), ("three writes a transaction", 30, 3, "COMMIT"),
            ("nine transactions", 9, 1, "COMMIT"), ("nothing written", 30, 0, "COMMIT"),
            ("rolled back", 30, 1, "ROLLBACK"),
        ])
    func good(name: String, transactions: Int, writes: Int, end: String) {
        var importer = Importer()
        for _ in 0..<transactions { importer.transaction(writes: writes, end: end) }
        #expect(importer.findings.isEmpty)
    }

    @Test func `Writes in memory, failed ones and those of saves are not reported`() {
        var memory = Importer()
        for _ in 0..<1000 { memory.run("INSERT INTO book VALUES (?, …)", duration: 5000) }
        #expect(memory.findings.isEmpty)
        var failed = Importer()
        for _ in 0..<50 { failed.run("INSERT INTO book VALUES (?, …)", error: 19) }
        #expect(failed.findings.isEmpty)
        var saved = Importer()
        let save = saved.trace.event(.save(TraceEvent.Save()), duration: 1000)
        for _ in 0..<50 { saved.run("INSERT INTO book VALUES (?, …)", parent: save) }
        #expect(saved.findings.isEmpty)
    }

    @Test func `A rollback to a savepoint leaves the transaction open`() {
        var importer = Importer()
        importer.run("BEGIN", .transaction, duration: 1000)
        for _ in 0..<50 {
            importer.run("INSERT INTO book VALUES (?, …)")
            importer.run("ROLLBACK TO a", .transaction)
        }
        importer.run("COMMIT", .transaction)
        #expect(importer.findings.isEmpty)
    }

    @Test func `Rows that arrive one by one make the finding a note`() throws {
        var importer = Importer()
        let name = importer.trace.define(.name(NameEntry(name: "feed")))
        var trace = importer.trace
        trace.scoped(name, .bulk) { scoped in
            importer.trace = scoped
            for _ in 0..<20 { importer.run("INSERT INTO book VALUES (?, …)", pause: 50_000_000) }
            scoped = importer.trace
        }
        importer.trace = trace
        let finding = try #require(importer.findings.first)
        #expect(finding.severity == .note)
        #expect(finding.reservations.map(\.text).contains { $0.contains("so the rows may arrive one by one.") })
    }
}

@Suite("R28: commits that wait for the disk")
struct CommitSyncsTests {
    /// The findings about 20 transactions of 100 rows, which take 20 ms each, of which SQLite waits for the disk.
    ///
    /// - Parameters:
    ///   - spills: The times that the first row of each transaction waits for the disk.
    ///   - log: The length of a write-ahead log.
    private func findings(
        syncs: UInt32, syncTime: UInt64 = 15_000_000, spills: UInt32 = 0, log: UInt64 = 0, commits: Int = 20,
        pause: UInt64 = 0
    ) -> [Finding] {
        var trace = TraceBuilder()
        let begin = trace.define(.statement(StatementEntry(sql: "BEGIN")))
        let insert = trace.define(.statement(StatementEntry(sql: "INSERT INTO book VALUES (?, …)")))
        let commit = trace.define(.statement(StatementEntry(sql: "COMMIT")))
        let stack = trace.stack(30)
        for _ in 0..<commits {
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type) = (begin, .transaction)
            trace.event(.sql(statement), duration: 1000, stack: stack)
            (statement.statement, statement.type, statement.rows) = (insert, .write, 1)
            for row in 0..<100 {
                statement.syncs = row == 0 ? spills : 0
                trace.event(.sql(statement), duration: 10_000, stack: stack)
            }
            (statement.statement, statement.type, statement.rows) = (commit, .transaction, 0)
            (statement.syncs, statement.syncTime, statement.log) = (syncs, syncTime, log)
            trace.event(.sql(statement), duration: 1_000_000 + syncTime, stack: stack)
        }
        trace.now += pause
        return Analysis(Profile(trace.closed()), rules: [SmallTransactionRule()]).findings
    }

    @Test func `With a rollback journal, a write-ahead log is advised`() throws {
        let finding = try #require(findings(syncs: 4).first)
        #expect(finding.severity == .warning && finding.change?.description == "Scroll.swift:30")
        #expect(finding.title.text == "Use a write-ahead log, so that not every commit waits for the disk")
        #expect(finding.code == ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"])
        #expect(
            finding.explanation.map(\.text) == [
                "20 commits waited 80 times for the disk: 300 ms, 88 % of the run."
            ])
        // A log waits once for each commit, and at best never.
        #expect(finding.saving.time == .init(median: 270_000_000, low: 225_000_000, high: 300_000_000))
    }

    @Test func `With a write-ahead log, fewer syncs are advised`() throws {
        let finding = try #require(findings(syncs: 1).first)
        #expect(finding.severity == .note && finding.code == ["PRAGMA synchronous = NORMAL"])
        #expect(finding.saving.time.low == 150_000_000)
    }

    @Test func `Rows that wait for the disk because the page cache is full are no commits`() {
        #expect(
            findings(syncs: 4, spills: 1).first?.explanation.map(\.text) == [
                "20 commits waited 80 times for the disk: 300 ms, 88 % of the run."
            ])
    }

    @Test func `Checkpoints of a write-ahead log are not those of a rollback journal`() {
        #expect(findings(syncs: 1, log: 4096).first?.code == ["PRAGMA synchronous = NORMAL"])
        #expect(findings(syncs: 3, log: 4096).isEmpty)
    }

    @Test func `Commits that take less than a fifth of the run are a note`() {
        #expect(findings(syncs: 4, pause: 1_000_000_000).map(\.severity) == [.warning])
        #expect(findings(syncs: 4, pause: 2_000_000_000).map(\.severity) == [.note])
    }

    @Test func `Commits that hardly wait are not reported`() {
        #expect(findings(syncs: 4, syncTime: 20_000).isEmpty)
        #expect(findings(syncs: 4, commits: 4).isEmpty)
        #expect(findings(syncs: 4, pause: 6_000_000_000).isEmpty)
        #expect(findings(syncs: 0).isEmpty)
    }
}
