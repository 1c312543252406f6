import FaultlineTrace
import Foundation
import TestFolders
import Testing

@Suite("A Python program with the preloaded library", .enabled(if: !Python.known.isEmpty, "needs python3"))
struct PreloadedPythonTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("The time of a run includes a last call that scans on and finds no further row")
    func longLastCall() throws {
        let directory = try TemporaryDirectory()
        let python = try #require(Python.known.first)
        let run = try python.run(
            """
            import sqlite3
            db = sqlite3.connect(":memory:")
            db.execute("CREATE TABLE t(a INTEGER, b TEXT)")
            db.execute("WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO t SELECT i, i FROM n")
            for count in (2, 10, 15, 40):
                db.execute("SELECT a FROM t WHERE a < ?", (count,)).fetchall()
            """, in: directory)
        let scans = run.statements.filter { $0.text == "SELECT a FROM t WHERE a < ?" }
        #expect(scans.map(\.fields.rows) == [2, 10, 15, 40])
        // All scan the table. The first has so few calls that each was timed.
        let first = try #require(scans.first).event.duration
        #expect(scans.allSatisfy { $0.event.duration > first / 8 }, "\(scans.map(\.event.duration))")
    }

    @Test("writes its own files as before, also while SQLite runs a statement", arguments: Python.known)
    func files(python: Python) throws {
        let run = try python.run(
            """
            import os, sqlite3
            file = os.open("\(directory.path("own"))", os.O_RDWR | os.O_CREAT)
            def write(text):
                size = os.pwrite(file, text.encode(), 0)
                os.fsync(file)
                os.fdatasync(file)
                return os.pread(file, size, 0).decode()
            db = sqlite3.connect("\(directory.path("store.sqlite"))", isolation_level=None)
            db.create_function("write", 1, write)
            db.execute("CREATE TABLE t(a)")
            print(db.execute("SELECT write('words')").fetchone()[0])
            try:
                os.pread(file, 5, -1)
            except OSError as error:
                print(error.errno)

            """, in: directory)
        #expect(run.result.output == "words\n22\n")
        let select = try #require(run.statements.first { $0.text.hasPrefix("SELECT") }?.fields)
        #expect(select.syncs == 0 && select.fileWrites == 0)
        #expect(try #require(run.statements.first { $0.text.hasPrefix("CREATE") }).fields.syncs > 0)
    }

    @Test("has the Python functions on the stacks of its statements", arguments: Python.known)
    func functions(python: Python) throws {
        var run = try python.run(
            """
            import sqlite3, threading
            db = sqlite3.connect(":memory:", check_same_thread=False)
            class Shop:
                def visit(self, depth):
                    if depth:
                        return self.visit(depth - 1)
                    return db.execute("SELECT 1 AS method").fetchall()
            def rows():
                yield db.execute("SELECT 2 AS generator").fetchall()
            def größe():
                return db.execute("SELECT 3 AS umlaut").fetchall()
            Shop().visit(2)
            list(rows())
            größe()
            db.create_function("f", 1, lambda x: db.execute("SELECT 4 AS inner").fetchone()[0])
            db.execute("SELECT f(1)").fetchall()
            worker = threading.Thread(target=lambda: db.execute("SELECT 5 AS thread").fetchall())
            worker.start()
            worker.join()
            exec(compile("db.execute('SELECT 6 AS compiled').fetchall()", "<text>", "exec"))

            """, in: directory)
        let method = python.minor < 11 ? "visit" : "Shop.visit"
        #expect(
            run.callers(of: "SELECT ? AS method") == [
                ["app.py:7 \(method)", "app.py:6 \(method)", "app.py:6 \(method)", "app.py:12 <module>"]
            ])
        #expect(run.callers(of: "SELECT ? AS generator") == [["app.py:9 rows", "app.py:13 <module>"]])
        #expect(run.callers(of: "SELECT ? AS umlaut") == [["app.py:11 größe", "app.py:14 <module>"]])
        #expect(run.callers(of: "SELECT ? AS inner") == [["app.py:15 <lambda>", "app.py:16 <module>"]])
        #expect(run.callers(of: "SELECT ? AS thread") == [["app.py:17 <lambda>"]])
        #expect(run.callers(of: "SELECT ? AS compiled") == [["app.py:20 <module>"]])
    }

    @Test(
        "has as its call site the application's line, and a library's only if there is no other",
        arguments: Python.known)
    func libraries(python: Python) throws {
        let package = directory.path("lib/site-packages/driver.py")
        try FileManager.default.createDirectory(
            atPath: (package as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try """
        import sqlite3, threading
        db = sqlite3.connect(":memory:", check_same_thread=False)
        def fetch(text):
            return db.execute(text).fetchall()
        def background():
            worker = threading.Thread(target=fetch, args=("SELECT 2 AS background",))
            worker.start()
            worker.join()

        """.write(toFile: package, atomically: true, encoding: .utf8)
        var run = try python.run(
            """
            import sys
            sys.path.insert(0, sys.path[0] + "/lib/site-packages")
            import driver
            driver.fetch("SELECT 1 AS called")
            driver.background()

            """, in: directory)
        #expect(run.callers(of: "SELECT ? AS called") == [["app.py:4 <module>"]])
        #expect(run.callers(of: "SELECT ? AS background") == [["driver.py:4 fetch"]])
    }

    @Test("has stacks of 64 functions, and marks deeper ones", arguments: Python.known)
    func depth(python: Python) throws {
        let run = try python.run(
            """
            import sqlite3
            db = sqlite3.connect(":memory:")
            def descend(depth):
                return descend(depth - 1) if depth > 1 else db.execute("SELECT 1").fetchall()
            descend(63)
            descend(200)

            """, in: directory)
        #expect(run.truncations == [false, true])
        #expect(Set(run.statements.map(\.event.stack)).count == 2)
    }

    @Test("keeps its lines when code is freed and its memory is used again", arguments: Python.known)
    func freedCode(python: Python) throws {
        let run = try python.run(
            """
            import sqlite3
            db = sqlite3.connect(":memory:")
            for number in range(300):
                text = "\\n" * number + "db.execute('SELECT 1 AS line_%d').fetchall()" % number
                exec(compile(text, "/generated_%d.py" % number, "exec"))

            """, in: directory)
        var copy = run
        let lines = (0..<300).map { copy.callers(of: "SELECT ? AS line_\($0)").first?.first ?? "none" }
        #expect(lines == (0..<300).map { "generated_\($0).py:\($0 + 1) <module>" })
    }

    @Test(
        "of a version whose structures are not known is recorded without call sites",
        .enabled(if: !Python.tooOld.isEmpty, "runs only where pyenv has a version before 3.8"), arguments: Python.tooOld
    )
    func oldVersion(python: Python) throws {
        let run = try python.run(
            "import sqlite3\nsqlite3.connect(':memory:').execute('SELECT 1').fetchall()\n", in: directory)
        #expect(run.statements.map(\.text) == ["SELECT ?"])
        #expect(run.statements.map(\.event.stack) == [0])
    }

    @Test("is recorded by the command at its own lines", arguments: Python.known.prefix(1))
    func record(python: Python) throws {
        let (script, trace) = (directory.path("shop.py"), directory.path("trace.json"))
        try """
        import sqlite3, sys
        db = sqlite3.connect(":memory:")
        for name in ("a", "b"):
            db.execute("SELECT ?", (name,)).fetchall()
        print("served")
        sys.exit(7)

        """.write(toFile: script, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["record", "-o", trace, "--", python.path, script])
        #expect(result.status == 7 && result.output == "served\n")
        #expect(result.errors.contains("SELECT ?") && result.errors.contains("shop.py:4"))
    }
}
