import Foundation
import TestFolders
import Testing

@Suite("record --columns", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
struct ColumnReadTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let source = """
        #include <sqlite3.h>
        #include <stdio.h>
        #include <string.h>

        static int print(void *context, int count, char **values, char **names) { return 0; }

        int main(int count, char **words) {
            sqlite3 *db;
            sqlite3_open(words[1], &db);
            sqlite3_exec(
                db,
                "CREATE TABLE book(id INTEGER PRIMARY KEY, isbn TEXT, title TEXT, price REAL, photo BLOB);"
                "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                " INSERT INTO book SELECT i, 'isbn' || i, 'title ' || i, i, zeroblob(9000) FROM n", NULL, NULL, NULL);
            sqlite3_stmt *some, *none;
            sqlite3_prepare_v2(db, "SELECT * FROM book WHERE price >= ?", -1, &some, NULL);
            sqlite3_bind_int(some, 1, 10);
            double sum = 0;
            for (int row = 0; sqlite3_step(some) == SQLITE_ROW; row++) {
                sum += sqlite3_column_int64(some, 0) + sqlite3_column_double(some, 3) + sqlite3_column_int(some, 0);
                if (row == 7) { sum += sqlite3_column_bytes(some, 2) + strlen((const char *)sqlite3_column_text(some, 2)); }
            }
            sqlite3_finalize(some);
            sqlite3_prepare_v2(db, "SELECT id, title FROM book", -1, &none, NULL);
            int rows = 0;
            while (sqlite3_step(none) == SQLITE_ROW) { rows++; }
            sqlite3_finalize(none);
            sqlite3_exec(db, "SELECT isbn, photo FROM book WHERE id < 5", print, NULL, NULL);
            printf("%.0f %d\\n", sum, rows);
            return sqlite3_close(db);
        }
        """

    @Test("finds the columns that a program does not read, and verify measures what they cost")
    func unread() throws {
        let program = try CProgram.build(
            Self.source, ["-g", "-O1", "-fno-omit-frame-pointer", "-lsqlite3"], in: directory)
        let (store, trace) = (directory.path("books.db"), directory.path("trace.json"))
        let plain = try BuiltCommand.run([directory.path("plain.db")], program: program)
        let run = try BuiltCommand.run(["record", "--quiet", "--columns", "-o", trace, "--", program, store])
        #expect(run.output == plain.output && run.status == plain.status && run.status == 0, "\(run.errors)")
        let query = "SELECT columns, columnsRead, rows FROM sql WHERE columns > 0 ORDER BY start"
        let found = try BuiltCommand.run(["query", trace, query]).output.split(separator: "\n").dropFirst()
        // The callback of sqlite3_exec gets all columns.
        #expect(
            found.map { $0.split(separator: " ").map(String.init) } == [
                ["5", "13", "291"], ["2", "0", "300"], ["2", "3", "4"],
            ])
        let findings = try ReportDocument(of: trace).findings.filter { $0.rule == "R30" }
        #expect(
            Dictionary(uniqueKeysWithValues: findings.map { ($0.change?.line, $0.code) }) == [
                19: ["SELECT id, title, price FROM book WHERE price >= ?"], 26: ["SELECT count(*) FROM book"],
            ])
        let verified = try BuiltCommand.run(["verify", trace, "--store", store])
        #expect(verified.output.contains("R30 Unread columns") && !verified.output.contains("not tried"))
    }

    @Test("Without the option, columns are not recorded")
    func off() throws {
        let program = try CProgram.build(Self.source, ["-O1", "-lsqlite3"], in: directory)
        let trace = directory.path("trace.json")
        _ = try BuiltCommand.run(["record", "--quiet", "-o", trace, "--", program, directory.path("books.db")])
        let query = "SELECT count(*) FROM sql WHERE columns > 0 OR columnsRead > 0"
        let found = try BuiltCommand.run(["query", trace, query])
        #expect(found.output.split(separator: "\n").last?.trimmingCharacters(in: .whitespaces) == "0")
        // That one column has most of the bytes of a row is known from the store, whether the program reads it or not. It is
        // reported if the statement takes a large share of the run.
        let titles = try ReportDocument(of: trace).findings.filter { $0.rule == "R30" }.map(\.title)
        #expect(titles.allSatisfy { $0 == "Leave photo out of lists of book that do not show it" }, "\(titles)")
    }

    @Test("A driver that copies whole rows reads all columns")
    func python() throws {
        let (script, trace) = (directory.path("books.py"), directory.path("trace.json"))
        try """
        import sqlite3
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)")
        db.executemany("INSERT INTO book(title) VALUES (?)", ((str(i),) for i in range(200)))
        print(len(db.execute("SELECT * FROM book").fetchall()))
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let run = try BuiltCommand.run(
            ["record", "--quiet", "--columns", "-o", trace, "--", PythonPackages.python, script])
        #expect(run.output == "200\n" && run.status == 0)
        #expect(try !ReportDocument(of: trace).findings.contains { $0.rule == "R30" })
    }

    @Test("Without the library beside it, the command says how to build it")
    func noLibrary() throws {
        let copy = directory.path("faultline")
        try FileManager.default.copyItem(atPath: BuiltCommand.faultline, toPath: copy)
        let result = try BuiltCommand.run(
            ["record", "--columns", "-o", directory.path("trace.json"), "--", "true"], program: copy)
        #expect(result.status != 0)
        #expect(
            result.errors.contains(
                "libFaultlineColumns.so, which records the columns that are read, is not beside the command; build it with "
                    + "\"make build\"."))
    }
}
