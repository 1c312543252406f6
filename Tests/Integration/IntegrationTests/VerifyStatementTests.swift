import Foundation
import TestFolders
import Testing

@Suite(
    "faultline verify, on the statements of a program without an object store", .serialized, .timeLimit(.minutes(10)))
struct VerifyStatementTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("shop.sqlite") }
    private var trace: String { directory.path("trace.json") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let preparation = """
        import sqlite3, sys
        c = sqlite3.connect(sys.argv[1])
        c.execute("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)")
        c.execute("CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER, year INTEGER)")
        with c:
            c.executemany("INSERT INTO author VALUES(?, ?)", [(n, "author %d" % n) for n in range(1, 501)])
            c.executemany("INSERT INTO book(title, author_id, year) VALUES(?, ?, ?)",
                [("title %d" % n, n % 500 + 1, 1900 + n % 100) for n in range(10000)])

        """

    private struct Report: Decodable {
        struct Finding: Decodable { var rule, title: String }
        struct Counts: Decodable { var trips, rows: UInt64 }
        struct Measurement: Decodable {
            var operations, recordedOperations: UInt64
            var before, after: Counts
        }
        struct Trial: Decodable {
            var finding: Finding
            var outcome: String
            var reason: String?
            var measurement: Measurement?
            var notes: [String]
        }
        var trials: [Trial]
    }

    /// Records some work on the shop, and tries what the report advises.
    private func verify(_ work: String, _ options: [String] = []) throws -> [Report.Trial] {
        let script = directory.path("shop.py")
        try (Self.preparation + work + "\n").write(toFile: script, atomically: true, encoding: .utf8)
        let recorded = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace] + options + ["--", PythonPackages.python, script, store])
        try #require(recorded.status == 0, "\(recorded.errors)")
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let result = try BuiltCommand.run(["verify", trace, "--store", store, "--format", "json"])
        try #require(result.status == 0, "\(result.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8)).trials
    }

    /// A flaw, with the trips and rows of its statements before and after the change.
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: String
        var work: String
        var before: [UInt64]
        var after: [UInt64]
        var operations: [UInt64]

        var testDescription: String { "\(rule): \(work)" }
    }

    private static let cases = [
        Case(
            rule: "R06",
            work: #"for n in range(1, 20): c.execute("SELECT title FROM book WHERE author_id = ?", (n,)).fetchall()"#,
            before: [8, 160], after: [8, 160], operations: [8, 19]),
        Case(
            rule: "R08",
            work:
                #"for n in range(5): c.execute("SELECT id FROM book WHERE title LIKE ?", ("%%9%d73%%" % n,)).fetchall()"#,
            before: [5, 5], after: [5, 5], operations: [5, 5]),
        Case(
            rule: "R14",
            work:
                #"for n in (0, 50, 200): c.execute("SELECT id, title FROM book ORDER BY id LIMIT ? OFFSET ?", (20, 20 * n)).fetchall()"#,
            before: [1, 20], after: [1, 20], operations: [1, 3]),
        Case(
            rule: "R06",
            work: #"for n in range(3): c.execute("SELECT * FROM book ORDER BY year LIMIT 10").fetchall()"#,
            before: [1, 10], after: [1, 10], operations: [1, 3]),
        Case(
            rule: "R27",
            work: """
                for id, author in c.execute("SELECT id, author_id FROM book LIMIT 60").fetchall():
                    c.execute("SELECT name FROM author WHERE id = ?", (author,)).fetchone()
                """,
            before: [60, 60], after: [1, 60], operations: [60, 60]),
        Case(
            rule: "R28",
            work: """
                for n in range(1, 41):
                    with c: c.execute("UPDATE author SET name = ? WHERE id = ?", ("new %d" % n, n))
                """,
            before: [40, 0], after: [1, 0], operations: [40, 40]),
        Case(
            rule: "R29",
            work: #"for n in range(30): c.execute("SELECT count(*) FROM author").fetchone()"#,
            before: [30, 30], after: [1, 1], operations: [30, 30]),
    ]

    @Test(
        "repeats the statements on a copy, with and without the change",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"), arguments: cases)
    private func trial(_ one: Case) throws {
        let trials = try verify(one.work)
        let trial = try #require(trials.first { $0.finding.rule == one.rule }, "\(trials)")
        let measured = try #require(trial.measurement, "\(trial)")
        #expect([measured.before.trips, measured.before.rows] == one.before)
        #expect([measured.after.trips, measured.after.rows] == one.after)
        #expect([measured.operations, measured.recordedOperations] == one.operations)
    }

    @Test(
        "says why a change cannot be tried", .enabled(if: PythonPackages.has("sqlite3"), "needs python3"),
        arguments: [
            (
                #"for n in range(20): c.execute("SELECT title FROM book WHERE author_id = ? AND year > ?", (n, 1950)).fetchall()"#,
                "R27", "The statement has more conditions than one, so its runs cannot be joined."
            ),
            (
                #"for n in range(20): c.execute("SELECT title FROM book WHERE author_id = ? AND lower(title) <> ?", (n, "x")).fetchall()"#,
                "R06",
                "The trace has no values, and those of this statement are not all compared with columns; record with --values."
            ),
            (
                #"for n in range(20): c.execute("SELECT title FROM book WHERE author_id = ?", (n + 9000,)).fetchall()"#,
                "R06",
                "Its runs find 400 rows here, but found 0 when they were recorded: this is not the same work."
            ),
        ])
    func reasons(work: String, rule: String, reason: String) throws {
        let trial = try #require(try verify(work).first { $0.finding.rule == rule })
        #expect(trial.outcome == "not tried" && trial.reason == reason, "\(trial)")
    }

    @Test(
        "uses the recorded values, if there are any", .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func values() throws {
        let work =
            #"for n in range(20): c.execute("SELECT id FROM book WHERE author_id = ? AND upper(title) <> ?", (7, "X")).fetchall()"#
        let trial = try #require(try verify(work, ["--values"]).first { $0.finding.rule == "R06" })
        let measured = try #require(trial.measurement, "\(trial)")
        #expect(measured.before.rows == 20 && measured.after.rows == 20)
        #expect(trial.notes.allSatisfy { !$0.contains("drawn") })
        // A profile keeps them if it is told to, and so does a sum.
        let (plain, profile, sum) = (directory.path("plain"), directory.path("profile.json"), directory.path("sum"))
        for arguments in [
            ["profile", trace, "-o", plain], ["profile", trace, "-o", profile, "--values"],
            ["merge", profile, "-o", sum],
        ] {
            try #require(try BuiltCommand.run(arguments).status == 0)
        }
        #expect(try String(contentsOfFile: profile, encoding: .utf8).contains("upper(title) <> 'X'"))
        for path in [plain, sum] {
            #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("upper(title) <> 'X'"))
        }
        let result = try BuiltCommand.run(["verify", profile, "--store", store])
        #expect(result.output.contains("R06 Missing index"))
    }

    @Test(
        "runs nothing that a changed trace has in the place of values",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func changedTrace() throws {
        let work = #"for n in range(30): c.execute("SELECT count(*) FROM author WHERE id > 5").fetchone()"#
        _ = try verify(work, ["--values"])
        let victim = directory.path("victim.sqlite")
        try FileManager.default.copyItem(atPath: store, toPath: victim)
        let before = try Data(contentsOf: URL(fileURLWithPath: victim))
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        try #require(text.contains(#""name":"SELECT count(*) FROM author WHERE id > 5"#))
        for attack in [
            "ATTACH '\(victim)' AS v", "SELECT 1; DROP TABLE author", "VACUUM INTO '\(directory.path("new"))'",
        ] {
            let changed = directory.path("changed.json")
            try text.replacing(#""name":"SELECT count(*) FROM author WHERE id > 5"#, with: #""name":"\#(attack)"#)
                .write(toFile: changed, atomically: true, encoding: .utf8)
            let result = try BuiltCommand.run(["verify", changed, "--store", store])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == before)
            #expect(!FileManager.default.fileExists(atPath: directory.path("new")))
        }
    }

    @Test(
        "gives up on work that takes far longer on the copy",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func longWork() throws {
        let work = """
            with c:
                c.execute("CREATE TABLE skew(a INTEGER, b INTEGER)")
                c.executemany("INSERT INTO skew VALUES(?, ?)", ((7 if n > 40 else n, n % 3) for n in range(30000)))
            for n in range(20):
                c.execute("SELECT count(*) FROM skew AS x JOIN skew AS y ON x.a = y.a WHERE x.a = ?", (n,)).fetchone()
            """
        let trials = try verify(work)
        #expect(
            trials.contains { $0.reason?.hasPrefix("Its runs take more than 3 seconds on the copy") == true },
            "\(trials)")
    }

    @Test("refuses a file that is not a database", .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func noDatabase() throws {
        _ = try verify(#"for n in range(30): c.execute("SELECT count(*) FROM author").fetchone()"#)
        let letter = directory.path("letter.txt")
        try "a letter, which is no database".write(toFile: letter, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["verify", trace, "--store", letter])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: Cannot read \"\(letter)\" as an SQLite file (file is not a database); name an SQLite file.\n"
        )
    }
}
