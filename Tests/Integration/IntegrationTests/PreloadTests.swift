import FaultlineTrace
import Foundation
import TestFolders
import Testing

@Suite("A program that does not know Faultline, with the preloaded library")
struct PreloadTests {
    @Test("Each run of a statement is an event, with its rows and SQLite's counters")
    func counts() throws {
        let run = try ObservedRun(["books", ":memory:"])
        #expect(run.count("SELECT name FROM author WHERE id = ?") == 50)
        let list = try #require(run.statements.first { $0.text == "SELECT id FROM author" })
        #expect(list.fields.rows == 50 && list.fields.fullScanSteps == 49 && list.fields.preparations == 1)
        #expect(list.fields.prepare > 0)
        let insert = try #require(run.statements.first { $0.text.contains("INSERT INTO author") })
        #expect(insert.fields.type == .write && insert.fields.rows == 50)
        #expect(run.statements.count == 53)
        #expect(run.statements.allSatisfy { $0.event.duration > 0 && $0.event.stack != 0 && $0.event.isMainThread })
    }

    @Test("A statement has what SQLite read from files for it, wrote to them, and waited for the disk")
    func files() throws {
        let store = try TemporaryDirectory().path("store.sqlite")
        let pragma = "PRAGMA main.synchronous = OFF"
        let insert = "INSERT INTO t VALUES (zeroblob(100000))"
        let run = try ObservedRun([
            "exec", store, "CREATE TABLE t(a)", insert, pragma, insert, "BEGIN", insert, "COMMIT",
            "SELECT sum(length(a)) FROM t",
        ])
        let inserts = run.statements.filter { $0.text.hasPrefix("INSERT") }.map(\.fields)
        try #require(inserts.count == 3)
        // The journal, the file and, when the journal is removed, its directory.
        #expect(inserts[0].syncs >= 2 && inserts[0].syncTime > 0)
        #expect(inserts[1].syncs == 0 && inserts[1].syncTime == 0)
        // 25 pages of 4 KiB, and the journal.
        for insert in inserts.prefix(2) { #expect(insert.fileWrites > 25) }
        // Within a transaction, the COMMIT writes.
        #expect(inserts[2].fileWrites < 25)
        let commit = try #require(run.statements.first { $0.text == "COMMIT" }?.fields)
        #expect(commit.fileWrites > 25)
        let select = try #require(run.statements.first { $0.text.hasPrefix("SELECT") }?.fields)
        #expect(select.fileWrites == 0 && select.syncs == 0)
        let memory = try ObservedRun(["exec", ":memory:", "CREATE TABLE t(a)", insert])
        #expect(memory.statements.allSatisfy { $0.fields.fileWrites == 0 && $0.fields.syncs == 0 })
    }

    @Test("Values are recorded only if asked for: of the first runs, and of a few later ones")
    func recordedValues() throws {
        let inserts = (1...70).map { "INSERT INTO t VALUES (\($0), 'it''s')" }
        let prepared = ["books", try TemporaryDirectory().path("store.sqlite")]
        #expect(try ObservedRun(prepared).textsWithValues.allSatisfy { $0 == nil })
        let books = try ObservedRun(prepared, variables: ["FAULTLINE_VALUES": "1"])
        let texts = zip(books.statements, books.textsWithValues).filter { $0.0.text.contains("WHERE") }.map(\.1)
        #expect(texts.count == 50)
        // 16 runs, and those after 16 and 32 others, although the text is prepared for each.
        #expect(texts.compactMap { $0 }.count == 18)
        #expect(texts.first??.contains("?") == false)
        let path = try TemporaryDirectory().path("store.sqlite")
        let run = try ObservedRun(
            ["exec", path, "CREATE TABLE t(a, b)"] + inserts + ["INSERT INTO t VALUES (0, zeroblob(200000))"],
            variables: ["FAULTLINE_VALUES": "1"])
        #expect(run.textsWithValues.contains("INSERT INTO t VALUES (7, 'it''s')"))
        #expect(run.result.status == 0)
    }

    @Test("A statement that is ended before its end has the work of its commit")
    func endedEarly() throws {
        let run = try ObservedRun(["early", TemporaryDirectory().path("store.sqlite")])
        #expect(
            run.result.output.hasSuffix(
                "step 100\nreset 0\nstep 100, 2\nfinalize 0\nchanges 1, message: not an error\n"))
        let inserts = run.statements.filter { $0.text.hasPrefix("INSERT") }
        #expect(inserts.count == 2)
        for insert in inserts.map(\.fields) {
            #expect(insert.syncs >= 2 && insert.fileWrites > 25)
            #expect(insert.rows == 1 && insert.virtualMachineSteps > 0)
        }
        #expect(inserts.allSatisfy { $0.event.duration > $0.fields.syncTime })
    }

    @Test("Calls that read and write blobs, make backups and checkpoints are events, and do what they do alone")
    func calls() throws {
        let run = try ObservedRun(["calls", TemporaryDirectory().path("store.sqlite")])
        let alone = try BuiltCommand.run(
            ["calls", TemporaryDirectory().path("store.sqlite")],
            program: BuiltCommand.programs.path + "/SQLiteProgram")
        #expect(run.result.output == alone.output)
        let calls = run.statements.filter { $0.fields.type == .other }
        #expect(
            calls.map(\.text) == [
                "sqlite3_blob_open(photo.data)"
            ] + Array(repeating: "sqlite3_blob_read(photo.data)", count: 6) + [
                "sqlite3_blob_reopen(photo.data)", "sqlite3_blob_write(photo.data)", "sqlite3_blob_close(photo.data)",
                "sqlite3_blob_open(photo.data)", "sqlite3_backup_step()", "sqlite3_wal_checkpoint_v2()",
                "sqlite3_wal_checkpoint()",
            ])
        // Reading beyond the end and opening a missing row fail.
        #expect(calls.map(\.fields.error) == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
        #expect(calls.allSatisfy { $0.event.duration > 0 && $0.event.stack != 0 && $0.fields.parameters == 0 })
        // Closing the blob commits the write to it, and a checkpoint copies the log into the file.
        #expect(calls[9].fields.fileWrites > 0)
        #expect(calls[12].fields.syncs > 0 && calls[12].fields.fileWrites > 0)
        // The statements that SQLite runs for a blob are its own.
        #expect(run.statements.count { $0.fields.type != .other } == 4)
    }

    @Test("A callback can leave a checkpoint by longjmp")
    func leftCall() throws {
        let run = try ObservedRun(["leave", TemporaryDirectory().path("store.sqlite")])
        #expect(!run.result.wasKilled && run.result.status == 0)
        #expect(run.result.output.hasSuffix("\n0 bytes changed\n"))
    }

    @Test("A call that reads a blob has the program's line")
    func lineOfCall() throws {
        let directory = try TemporaryDirectory()
        let (program, trace) = (BuiltCommand.programs.path + "/SQLiteProgram", directory.path("trace.json"))
        let recorded = try BuiltCommand.run(
            ["record", "-o", trace, "--quiet", "--", program, "calls", directory.path("store.sqlite")])
        #expect(recorded.status == 0)
        let source = BuiltCommand.package.appendingPathComponent("Tests/Integration/SQLiteProgram/main.c")
        let line = "main.c:\(try SourceLine.find("// a part", in: source))"
        let reads = try RecordedEvents(of: trace).all.filter { $0.sql == "sqlite3_blob_read(photo.data)" }
        #expect(reads.count == 6)
        #expect(reads.prefix(5).allSatisfy { $0.callSite?.text == line })
    }

    @Test("The trace says that it has statements alone")
    func gaps() throws {
        let began = try #require(ObservedRun(["exec", ":memory:", "SELECT 1"]).processes.first)
        #expect(began.source == .sqlite)
        #expect(began.gaps?.map(\.kind) == [.operations, .exactTimes])
    }

    @Test(
        "Statements that differ only in their values have one text, without the values",
        arguments: [
            ("SELECT 'secret', 42, x'00ff', 1.5e-3, NULL", "SELECT ?, …, NULL"),
            ("SELECT 1 WHERE 2 IN (3, 4, 5)", "SELECT ? WHERE ? IN (…)"),
            ("VALUES (1, 'a'), (2, 'b'), (3, 'c')", "VALUES (?, …), …"),
            ("SELECT  /* secret */ 'it''s' -- secret\n AS \"a\"", "SELECT ? AS \"a\""),
            ("SELECT 0x1F AS [b c], .5 AS `d`;", "SELECT ? AS [b c], ? AS `d`"),
            ("SELECT -- an open comment\n 1 /* and another", "SELECT ?"),
        ])
    func texts(sql: String, text: String) throws {
        let run = try ObservedRun(["exec", ":memory:", sql])
        #expect(run.statements.map(\.text) == [text])
        #expect(!run.trace.contains("secret"))
    }

    @Test("Runs with the same values have the same hash, which differs from one recording to the next")
    func values() throws {
        let hashes = { (arguments: [String], text: String) in
            try ObservedRun(arguments).statements.filter { $0.text == text }.map(\.fields.parameters)
        }
        let bound = try hashes(["values", ":memory:"], "SELECT ? WHERE ? IS NULL")
        // Each letter stands for a hash, and a full stop for none.
        var letters: [UInt64: Character] = [0: "."]
        for hash in bound where letters[hash] == nil {
            letters[hash] = Character(UnicodeScalar(UInt8(96 + letters.count)))
        }
        let round = "aabcdefgaahij.j"
        #expect(String(bound.compactMap { letters[$0] }) == round + round)
        let literals = try hashes(["exec", ":memory:", "SELECT 1", "SELECT 2", "SELECT 1"], "SELECT ?")
        #expect(literals[0] == literals[2] && literals[0] != literals[1] && !literals.contains(0))
        #expect(try hashes(["exec", ":memory:", "SELECT 1", "SELECT 2", "SELECT 1"], "SELECT ?") != literals)
        let written = try hashes(
            ["exec", ":memory:", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1)"], "INSERT INTO t VALUES (?)")
        #expect(written == [0])
    }

    @Test("A long statement begins after the one before it, and ends before the next")
    func times() throws {
        let long =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT max(i) FROM n"
        let run = try ObservedRun(["exec", ":memory:", "SELECT 1", long, "SELECT 2", long, "SELECT 3"])
        let events = run.statements.map(\.event)
        let longest = try #require(events.map(\.duration).max())
        try #require(events.count == 5 && longest > 1_000_000)
        for (event, next) in zip(events, events.dropFirst()) {
            #expect(event.start + event.duration <= next.start + longest / 10)
        }
        #expect(events[4].start - events[0].start >= longest)
    }

    @Test("The statements that SQLite runs for itself are not recorded")
    func inner() throws {
        let run = try ObservedRun([
            "exec", ":memory:", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2)", "VACUUM",
            "ALTER TABLE t ADD COLUMN b DEFAULT 7", "SELECT * FROM t",
        ])
        #expect(
            run.statements.map(\.text) == [
                "CREATE TABLE t(a)", "INSERT INTO t VALUES (?), …", "VACUUM", "ALTER TABLE t ADD COLUMN b DEFAULT ?",
                "SELECT * FROM t",
            ])
        #expect(run.statements.map(\.fields.rows).last == 2)
    }

    @Test("A user function's statements are recorded, although another statement is running")
    func function() throws {
        let run = try ObservedRun(["function", ":memory:"])
        #expect(
            run.statements.map(\.text) == ["CREATE TABLE t(a)", "SELECT name FROM sqlite_master", "SELECT tables()"])
    }

    @Test("A failed statement has SQLite's code")
    func errors() throws {
        let run = try ObservedRun([
            "exec", ":memory:", "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)",
        ])
        #expect(run.statements.map { $0.fields.error & 0xFF } == [0, 0, 19])
    }

    @Test("A statement that reads has SQLite's plan, also for temporary tables and the program's functions")
    func plans() throws {
        let run = try ObservedRun([
            "exec", ":memory:", "CREATE TEMP TABLE t(a, b)", "SELECT * FROM t WHERE a = 1",
            "CREATE INDEX temp.i ON t(a)",
            "SELECT b FROM t WHERE a = 1 ORDER BY b", "EXPLAIN SELECT 1", "WITH w AS (SELECT 2) SELECT * FROM t, w",
            "DELETE FROM t WHERE a = 3",
        ])
        #expect(run.plans(of: "SELECT * FROM t WHERE a = ?") == [["SCAN t"]])
        #expect(
            run.plans(of: "SELECT b FROM t WHERE a = ? ORDER BY b") == [
                ["SEARCH t USING INDEX i (a=?)", "USE TEMP B-TREE FOR ORDER BY"]
            ])
        #expect(run.plans(of: "EXPLAIN SELECT ?") == [nil])
        #expect(run.plans(of: "DELETE FROM t WHERE a = ?") == [nil])
        #expect(run.plans(of: "WITH w AS (SELECT ?) SELECT * FROM t, w").first??.isEmpty == false)
    }

    @Test("A program with hooks of its own is not asked for plans, and its hooks see what they would see alone")
    func hooks() throws {
        let program = BuiltCommand.programs.appendingPathComponent("SQLiteProgram").path
        let alone = try BuiltCommand.run(["hooks", ":memory:"], program: program)
        let run = try ObservedRun(["hooks", ":memory:"])
        #expect(run.result.output == alone.output && alone.output.contains("SELECT"))
        #expect(run.plans(of: "SELECT a FROM t") == [nil])
    }

    @Test("Asking for plans changes neither changes() nor the error of the connection")
    func questions() throws {
        let program = BuiltCommand.programs.appendingPathComponent("SQLiteProgram").path
        let alone = try BuiltCommand.run(["state", ":memory:"], program: program)
        let run = try ObservedRun(["state", ":memory:"])
        #expect(run.result.output == alone.output && alone.output.contains("changes 2"))
        #expect(run.plans(of: "SELECT a FROM t") == [["SCAN t"]])
    }

    @Test("Threads lose no statement")
    func threads() throws {
        let run = try ObservedRun(["threads", ":memory:"])
        #expect(run.count("SELECT ?") == 4000)
        #expect(Set(run.statements.map(\.event.thread)).count == 4)
    }

    @Test("A wait for SQLite's lock is a part of its statement, and has the thread that held the lock")
    func waits() throws {
        let directory = try TemporaryDirectory()
        let run = try ObservedRun(["wait", directory.path("store.sqlite")])
        try #require(run.result.status == 0 && run.waits.count == 2)
        let failed = try #require(run.waits.first { $0.fields.error != 0 })
        #expect(failed.fields.error & 0xFF == 5 && failed.fields.tries == 0)
        let waited = try #require(run.waits.first { $0.fields.error == 0 })
        #expect(waited.fields.resource == .sqlite && waited.fields.isBlocking && waited.fields.tries > 0)
        let statement = try #require(run.statements.first { $0.event.id == waited.event.parent })
        #expect(statement.text == "INSERT INTO t VALUES (?)" && statement.event.thread == waited.event.thread)
        #expect(statement.fields.wait > 0 && statement.fields.wait <= statement.event.duration)
        #expect(waited.event.start >= statement.event.start && waited.event.end <= statement.event.end)
        let owner = try #require(run.statements.first { $0.text == "BEGIN IMMEDIATE" }).event.thread
        #expect(waited.fields.ownerThread == owner && failed.fields.ownerThread == owner)
        #expect(waited.event.thread != owner && waited.fields.ownerProcess == 0)
    }

    @Test("A wait for the lock of another process has its ID")
    func foreignWaits() throws {
        let directory = try TemporaryDirectory()
        let run = try ObservedRun(["foreign", directory.path("store.sqlite")])
        try #require(run.result.status == 0 && run.processes.count == 2)
        let wait = try #require(run.waits.first)
        let owner = try #require(run.statements.first { $0.text == "BEGIN IMMEDIATE" }).event.process
        #expect(run.waits.count == 1 && wait.fields.ownerProcess == owner && wait.fields.ownerThread == 0)
        #expect(wait.event.process != owner && wait.fields.tries > 0 && wait.fields.error == 0)
    }

    @Test("A forked child is a process of its own in the trace")
    func fork() throws {
        let run = try ObservedRun(["fork", ":memory:"])
        #expect(run.processes.count == 2)
        #expect(Set(run.statements.map(\.text)) == ["SELECT ? AS c", "SELECT ? AS p"])
        #expect(Set(run.statements.map(\.event.process)).count == 2)
    }

    @Test(
        "The program's output and status are those without the library",
        arguments: [
            ["books", ":memory:"], ["threads", ":memory:"], ["function", ":memory:"],
            ["exec", ":memory:", "SELECT * FROM nosuch", "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)", "SELEC"],
            ["exec"],
        ])
    func transparency(arguments: [String]) throws {
        let program = BuiltCommand.programs.appendingPathComponent("SQLiteProgram").path
        let plain = try BuiltCommand.run(arguments, program: program)
        let preloaded = try BuiltCommand.run(
            arguments, program: program, environment: ["LD_PRELOAD": ObservedRun.library])
        #expect(preloaded.output == plain.output && preloaded.errors == plain.errors)
        #expect(preloaded.status == plain.status && !preloaded.wasKilled)
        guard arguments.count > 1 else { return }
        let observed = try ObservedRun(arguments).result
        #expect(observed.output == plain.output && observed.errors == plain.errors && observed.status == plain.status)
    }

    @Test("A program that records itself is not recorded from outside as well")
    func recorderOfItsOwn() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("list.sqlite")
        let words = ["workload", "groceries", "--store", store, "--items", "20"]
        #expect(try BuiltCommand.run(words + ["--prepare"]).status == 0)
        let run = try ObservedRun(words, program: "faultline")
        #expect(run.result.status == 0)
        #expect(run.processes.map(\.source) == [nil])
    }
}
