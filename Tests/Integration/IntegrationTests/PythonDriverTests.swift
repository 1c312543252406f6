import Foundation
import TestFolders
import Testing

/// PyPI's `apsw`, which contains SQLite, where `make test-commands` installed it.
enum Apsw {
    static let isInstalled = FileManager.default.fileExists(atPath: PyPI.folder + "/apsw")

    /// A script that uses these packages.
    static func script(_ text: String) -> String {
        "import sys\nsys.path.insert(0, \"\(PyPI.folder)\")\n" + text
    }
}

@Suite(
    "A Python driver with a hidden copy of SQLite is recorded",
    .enabled(if: Apsw.isInstalled, "needs PyPI's apsw: make test-commands, where PyPI can be reached"))
struct PythonDriverTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let books = Apsw.script(
        """
        import apsw
        def authors(connection):
            for title, author in connection.execute("SELECT title, author FROM book"):
                list(connection.execute("SELECT name FROM author WHERE id = ?", (author,)))
        db = apsw.Connection(sys.argv[1])
        db.execute("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)")
        db.execute("CREATE TABLE book(title TEXT, author INTEGER)")
        with db:
            for id in range(50):
                db.execute("INSERT INTO author VALUES (?, ?)", (id, str(id)))
                db.execute("INSERT INTO book VALUES (?, ?)", (str(id), id))
        authors(db)
        print(db.total_changes(), len(apsw.connection_hooks))
        """)

    @Test("Its loop is found at the line of the program, and the report says how it was recorded")
    func loop() throws {
        let (file, trace) = (directory.path("shop.py"), directory.path("trace.json"))
        try Self.books.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(
            ["record", "-o", trace, "--", PythonPackages.python, file, directory.path("books.db")])
        #expect(result.status == 0 && result.output == "100 0\n", "\(result.errors)")
        #expect(!result.errors.contains("Not recorded"))
        #expect(
            result.errors.contains("contains its own copy of SQLite, which was recorded by its trace hook: the times"))
        let findings = try ReportDocument(of: trace).findings.filter { $0.rule == "R27" || $0.severity != "note" }
        #expect(findings.map(\.rule) == ["R27"])
        #expect(findings.first?.change?.line == 5)
        #expect(findings.first?.change?.file == file)
        let counts = try BuiltCommand.run(["query", trace, "SELECT count(*), sum(rows) FROM sql"])
        #expect(counts.output.contains("155") && counts.output.contains("200"), "\(counts.output)")
    }

    @Test("A forked child and a second database are recorded, too")
    func children() throws {
        let script = Apsw.script(
            """
            import apsw, os
            parent = apsw.Connection(sys.argv[1])
            parent.execute("CREATE TABLE t(x)")
            parent.close()
            child = os.fork()
            db = apsw.Connection(sys.argv[1])
            if child == 0:
                db.execute("SELECT 1")
                os._exit(0)
            os.waitpid(child, 0)
            db.execute("SELECT 2")
            """)
        let file = directory.path("fork.py")
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let run = try ObservedRun([file, directory.path("t.db")], program: PythonPackages.python)
        #expect(run.result.status == 0, "\(run.result.errors)")
        #expect(run.count("SELECT ?") == 2 && run.processes.count == 2)
    }
}
