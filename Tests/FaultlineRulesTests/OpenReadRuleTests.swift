import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R33: long reads")
struct OpenReadRuleTests {
    /// A program that reads a ledger while it writes to it.
    private struct Ledger {
        var trace = TraceBuilder()
        private let read: DictionaryID
        private let begin: DictionaryID
        private let commit: DictionaryID
        private let insert: DictionaryID
        private let stack: DictionaryID
        static let megabyte: UInt64 = 1_000_000

        init() {
            read = trace.define(.statement(StatementEntry(sql: "SELECT id, body FROM ledger")))
            begin = trace.define(.statement(StatementEntry(sql: "BEGIN")))
            commit = trace.define(.statement(StatementEntry(sql: "COMMIT")))
            insert = trace.define(.statement(StatementEntry(sql: "INSERT INTO ledger(body) VALUES (?)")))
            stack = trace.stack(30)
        }

        private mutating func run(
            _ sql: DictionaryID, _ type: TraceEvent.Statement.StatementType, log: UInt64 = 0, open: UInt64 = 0
        ) {
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type, statement.log, statement.open) = (sql, type, log, open)
            trace.event(.sql(statement), duration: 1000, stack: stack)
        }

        /// Commits after which the log has these lengths, in megabytes, a millisecond each.
        mutating func write(_ lengths: [UInt64]) {
            for length in lengths {
                trace.now += 1_000_000
                run(commit, .transaction, log: length * Self.megabyte)
            }
        }

        /// A transaction with writes after which the log has these lengths, in megabytes, and then its commit.
        mutating func writeAtOnce(_ lengths: [UInt64]) {
            run(begin, .transaction)
            for length in lengths { run(insert, .write, log: length * Self.megabyte) }
            write([lengths.last ?? 0])
        }

        /// A statement that was begun before these commits, and ends after them.
        mutating func read(during lengths: [UInt64], atOnce: Bool = false) {
            let start = trace.now
            if atOnce { writeAtOnce(lengths) } else { write(lengths) }
            let end = trace.now
            trace.now = start
            run(read, .read, open: end - start)
            trace.now = end
        }

        /// A transaction of another thread that reads before these commits, and ends after them.
        mutating func readInTransaction(during lengths: [UInt64], isEnded: Bool = true) {
            trace.thread += 1
            run(begin, .transaction)
            run(read, .read)
            trace.thread -= 1
            write(lengths)
            guard isEnded else { return }
            trace.thread += 1
            run(commit, .transaction)
            trace.thread -= 1
        }

        func findings() -> [Finding] { Analysis(Profile(trace.closed()), rules: [OpenReadRule()]).findings }
    }

    @Test func `A result that stays open while the log grows is reported at its line`() throws {
        var ledger = Ledger()
        ledger.read(during: Array(1...15))
        let found = ledger.findings()
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.severity == .warning && finding.change?.description == "Scroll.swift:30")
        #expect(
            finding.title.text == "End the read of SELECT … FROM ledger, so that the write-ahead log can be reset")
        #expect(
            finding.explanation.first?.text
                == "The result of SELECT … FROM ledger was open for 15.0 ms. Meanwhile the log grew to 14.3 MiB.")
        let stored = try Profile(fileData: Profile(ledger.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [OpenReadRule()]).findings == found)
    }

    @Test func `A transaction that stays open after it has read is reported at the read`() throws {
        var ledger = Ledger()
        ledger.readInTransaction(during: Array(1...15))
        let finding = try #require(ledger.findings().first)
        #expect(finding.title.text == "End the transaction that reads, so that the write-ahead log can be reset")
        #expect(finding.fix.text == "Commit as soon as the rows are read." && finding.code.isEmpty)
    }

    @Test(
        "The log may grow up to a checkpoint, in one transaction, and after it was reset",
        arguments: [[1, 2, 3, 4], [1, 50], [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]] as [[UInt64]])
    func rightGrowth(lengths: [UInt64]) {
        var ledger = Ledger()
        ledger.read(during: lengths)
        #expect(ledger.findings() == [])
    }

    @Test func `A transaction that is never ended is reported, too`() {
        var ledger = Ledger()
        ledger.readInTransaction(during: Array(1...15), isEnded: false)
        #expect(ledger.findings().count == 1)
    }

    @Test func `The pages that a transaction writes before its commit are not its commits`() {
        var ledger = Ledger()
        ledger.read(during: Array(1...50), atOnce: true)
        #expect(ledger.findings() == [])
    }

    @Test func `A read that ended before the log grew is not reported`() {
        var ledger = Ledger()
        ledger.read(during: [1, 2])
        ledger.write(Array(3...15))
        #expect(ledger.findings() == [])
    }
}
