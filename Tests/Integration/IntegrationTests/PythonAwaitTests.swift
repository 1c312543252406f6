import Foundation
import TestFolders
import Testing

@Suite(
    "A statement that a Python driver runs on a thread of its own has the line that awaits it",
    .enabled(if: PythonPackages.has("aiosqlite"), "needs aiosqlite: apt-get install python3-aiosqlite"))
struct PythonAwaitTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The rows of a query of the trace of a script, without the heading.
    private func rows(_ script: String, _ query: String) throws -> [[String]] {
        let trace = try Python.record(script, with: PythonPackages.python, in: directory)
        let result = try BuiltCommand.run(["query", trace, query, "--format", "csv"])
        return result.output.split(separator: "\n").dropFirst()
            .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    private static let books = """
        import asyncio, aiosqlite, sys
        async def author(db, i):
            async with db.execute("SELECT name FROM author WHERE id = ?", (i,)) as found:
                return await found.fetchone()
        async def authors(db):
            async with db.execute("SELECT id FROM author WHERE id < 40") as found:
                rows = await found.fetchall()
            for row in rows:
                await author(db, row[0])
        async def fill(db):
            await db.execute("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)")
            for i in range(50):
                await db.execute("INSERT INTO author VALUES (?, ?)", (i, str(i)))
            await db.commit()
        async def main():
            async with aiosqlite.connect(sys.argv[0] + ".db") as db:
                await fill(db)
                for _ in range(2): await authors(db)
                await asyncio.gather(authors(db), authors(db))
        asyncio.run(main())

        """

    @Test("With aiosqlite, statements with parameters, rows or a transaction have their line")
    func lines() throws {
        let lines = try rows(
            Self.books,
            "SELECT substr(sql, 1, 11), callSite, count(*) FROM sql WHERE sql NOT LIKE 'CREATE%' GROUP BY 1, 2 ORDER BY 1"
        )
        #expect(
            lines == [
                ["BEGIN", "app.py:13", "1"], ["COMMIT", "app.py:14", "1"],
                ["INSERT INTO", "app.py:13", "50"],
                ["SELECT id F", "app.py:6", "4"],
                ["SELECT name", "app.py:3", "160"],
            ])
    }

    @Test("Tasks that take turns have loops of their own")
    func loops() throws {
        let problems = try PythonPackages.problems(Self.books, in: directory)
        let loop = try #require(problems.first { $0.rule == "R27" })
        #expect(loop.figure("executions") == 160 && loop.figure("occurrences") == 4)
        #expect(loop.change?.line == 6)
    }

    @Test("They belong to the request whose functions await them")
    func scopes() throws {
        try FileManager.default.createDirectory(atPath: directory.path("starlette"), withIntermediateDirectories: true)
        try "class Route:\n    async def handle(self, view, db): await view(db)\n"
            .write(toFile: directory.path("starlette/routing.py"), atomically: true, encoding: .utf8)
        let script = Self.books.replacing(
            "asyncio.gather(authors(db), authors(db))",
            with: "asyncio.gather(*[Route().handle(authors, db) for _ in range(3)])")
        let sums = try rows(
            "from starlette.routing import Route\n" + script,
            "SELECT s.scopeName, count(*) FROM sql JOIN scope AS s ON s.id = sql.scope WHERE s.phase = 'end' GROUP BY s.id"
        )
        #expect(sums == Array(repeating: ["app.authors", "41"], count: 3))
    }

    @Test("Successive tasks have loops of their own, even if their coroutines have the same address")
    func successors() throws {
        let script = Self.books.replacing(
            "asyncio.gather(authors(db), authors(db))",
            with: "asyncio.sleep(0)\n        for _ in range(6): await asyncio.create_task(authors(db))")
        let problems = try PythonPackages.problems(script, in: directory)
        let loop = try #require(problems.first { $0.rule == "R27" })
        #expect(loop.figure("executions") == 320 && loop.figure("occurrences") == 8)
    }

    @Test("A task's statement has no line of another one's, and a deep one keeps its own function")
    func others() throws {
        let lines = try rows(
            """
            import asyncio, aiosqlite, contextlib
            async def other(db):
                await db.rollback()
                try: await db.execute("SELECT 1 WHERE ? = ?", (1, object()))
                except Exception: pass
            async def own(db):
                await db.execute("SELECT 2 WHERE ? = 1", (1,))
                await db.execute("SELECT 1 WHERE ? = ?", (1, 1))
            async def deep(db, level):
                if level > 0: await deep(db, level - 1)
                else: await db.execute("SELECT 3 WHERE ? = 1", (1,))
            @contextlib.asynccontextmanager
            async def session(db):
                await db.execute("SELECT 4 WHERE ? = 1", (1,))
                yield db
            async def main():
                async with aiosqlite.connect(":memory:") as db:
                    await other(db)
                    await own(db)
                    await deep(db, 100)
                    async with session(db): pass
            asyncio.run(main())

            """, "SELECT callSite FROM sql WHERE sql LIKE 'SELECT ?%' ORDER BY start")
        #expect(lines == [["app.py:7"], ["app.py:8"], ["app.py:11"], ["app.py:14"]])
    }

    @Test("The program's own classes are not asked, whatever they are called")
    func hostile() throws {
        let script = """
            import sqlite3, sys, threading, concurrent.futures as futures
            sys.addaudithook(lambda event, _: event == "object.__getattr__" and print("audit"))
            class JobTask:
                def __getattr__(self, name): print("asked", name); raise AttributeError(name)
                def done(self, future): pass
            class FutureProxy(futures.Future):
                def __getattribute__(self, name): print("read", name); return super().__getattribute__(name)
            proxy = FutureProxy.__new__(FutureProxy)
            db = sqlite3.connect(":memory:", check_same_thread=False)
            pool, event = futures.ThreadPoolExecutor(1), threading.Event()
            pool.submit(db.execute, "SELECT 1").result()
            pool.submit(event.wait)
            future = pool.submit(db.execute, "SELECT ?", (5,))
            future.add_done_callback(JobTask().done)
            future.add_done_callback(lambda _: proxy and None)
            event.set()
            print(future.result().fetchall())

            """
        let file = directory.path("app.py")
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let alone = try BuiltCommand.run([file], program: PythonPackages.python)
        let recorded = try BuiltCommand.run(
            ["record", "--quiet", "-o", directory.path("trace.json"), "--", PythonPackages.python, file])
        #expect(recorded.output == alone.output && recorded.status == 0)
    }

    @Test("With SQLAlchemy, the functions of its greenlets are part of the stack")
    func greenlets() throws {
        let lines = try rows(
            """
            import asyncio, sqlalchemy
            from sqlalchemy.ext.asyncio import create_async_engine
            def inner(connection, i):
                connection.execute(sqlalchemy.text("SELECT 1 WHERE 1 = :i"), {"i": i})
            async def main():
                engine = create_async_engine("sqlite+aiosqlite://")
                async with engine.begin() as connection:
                    await connection.execute(sqlalchemy.text("SELECT 2 WHERE 1 = :i"), {"i": 1})
                    await connection.run_sync(inner, 1)
            asyncio.run(main())

            """, "SELECT sql, callSite FROM sql WHERE sql LIKE 'SELECT ? WHERE%' ORDER BY start")
        #expect(lines.map { $0[1] } == ["app.py:8", "app.py:4"])
    }

    @Test("With Django, the methods that run on a thread of the event loop have their line")
    func django() throws {
        let lines = try rows(
            PythonPackages.django + """
                import asyncio, asgiref.sync
                from django.db import connection, models
                class Author(models.Model):
                    name = models.CharField(max_length=100)
                    class Meta: app_label = "shop"
                def fill():
                    with connection.schema_editor() as editor: editor.create_model(Author)
                    Author.objects.create(name="Ursula")
                async def main():
                    await asgiref.sync.sync_to_async(fill)()
                    await asgiref.sync.sync_to_async(Author.objects.get)(name="Ursula")
                asyncio.run(main())

                """, "SELECT callSite FROM sql WHERE sql LIKE 'SELECT%shop_author%'")
        #expect(lines == [["app.py:17"]])
    }
}
