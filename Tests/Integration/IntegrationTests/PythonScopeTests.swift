import Foundation
import TestFolders
import Testing

@Suite("Requests, tests and jobs of a Python program are scopes", .enabled(if: !Python.known.isEmpty, "needs python3"))
struct PythonScopeTests {
    private struct Scope: Decodable, Hashable {
        var name: String
        var kind: String
        var count: Int
        var trips: Int
        var rows: Int
    }

    private struct Document: Decodable {
        var scopes: [Scope]
    }

    /// The scopes in the report about a script.
    private func scopes(of script: String, _ python: Python, in directory: TemporaryDirectory) throws -> Set<Scope> {
        let trace = try python.record(script, in: directory)
        let report = try BuiltCommand.run(["report", trace, "--format", "json"])
        return Set(try JSONDecoder().decode(Document.self, from: Data(report.output.utf8)).scopes)
    }

    /// Writes functions with the names and files of a framework's.
    private func write(_ methods: String, to file: String, in directory: TemporaryDirectory) throws {
        let module = directory.url.appendingPathComponent("site-packages/" + file)
        let package = module.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        try "".write(to: package.appendingPathComponent("__init__.py"), atomically: true, encoding: .utf8)
        try methods.write(to: module, atomically: true, encoding: .utf8)
    }

    private func writeFlask(_ methods: String, in directory: TemporaryDirectory) throws {
        try write(methods, to: "flask/app.py", in: directory)
    }

    private static let database = """
        import sqlite3
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.execute("CREATE TABLE t(a)")
        def read(count):
            for i in range(count): db.execute("SELECT count(*) FROM t WHERE a = ?", (i,)).fetchone()

        """

    @Test("Each test of unittest is one, with its preparation", arguments: Python.numberingCalls)
    func tests(python: Python) throws {
        let directory = try TemporaryDirectory()
        let scopes = try scopes(
            of: Self.database + """
                import unittest
                class Orders(unittest.TestCase):
                    def setUp(self): read(1)
                    def test_one(self): read(3)
                    def test_two(self): read(5)
                    def test_none(self): pass
                class Prices(unittest.TestCase):
                    def test_prices(self):
                        for price in range(3):
                            with self.subTest(price): read(2)
                unittest.main()

                """, python, in: directory)
        #expect(
            scopes == [
                Scope(name: "app.Orders.test_one", kind: "test", count: 1, trips: 4, rows: 4),
                Scope(name: "app.Orders.test_two", kind: "test", count: 1, trips: 6, rows: 6),
                Scope(name: "test", kind: "test", count: 1, trips: 1, rows: 1),
                Scope(name: "app.Prices.test_prices", kind: "test", count: 1, trips: 6, rows: 6),
            ])
    }

    @Test("Each request that Flask answers is one, named by its view, on any thread", arguments: Python.numberingCalls)
    func requests(python: Python) throws {
        let directory = try TemporaryDirectory()
        try writeFlask(
            """
            class Flask:
                def wsgi_app(self, before, view):
                    before()
                    return self.dispatch_request(view)
                def dispatch_request(self, view): return view()

            """, in: directory)
        let scopes = try scopes(
            of: Self.database + """
                import sys, threading
                sys.path.insert(0, sys.path[0] + "/site-packages")
                from flask.app import Flask
                app = Flask()
                def load_user(): read(1)
                def logged(view):
                    def wrapper():
                        read(1)
                        return view()
                    return wrapper
                @logged
                def list_orders(): read(10)
                def show_order(): read(2)
                def fail(): pass
                def work():
                    for _ in range(2): app.wsgi_app(load_user, show_order)
                    # The thread may not have ended when the program does.
                    read(1)
                def main():
                    for _ in range(3): app.wsgi_app(load_user, list_orders)
                    while len(answered) < 4:
                        answered.append(app.wsgi_app(load_user, show_order))
                    worker = threading.Thread(target=work)
                    worker.start()
                    worker.join()
                    app.wsgi_app(load_user, fail)
                answered = []
                main()

                """, python, in: directory)
        #expect(
            scopes == [
                Scope(name: "app.list_orders", kind: "request", count: 3, trips: 36, rows: 36),
                Scope(name: "app.show_order", kind: "request", count: 6, trips: 18, rows: 18),
                Scope(name: "request", kind: "request", count: 1, trips: 1, rows: 1),
            ])
    }

    @Test(
        "Deep stacks, requests within requests, and statements that stay open do not confuse the scopes",
        arguments: Python.numberingCalls)
    func unusual(python: Python) throws {
        let directory = try TemporaryDirectory()
        try writeFlask(
            """
            class Flask:
                def wsgi_app(self, view): return self.dispatch_request(view)
                def dispatch_request(self, view): return view()

            """, in: directory)
        let scopes = try scopes(
            of: Self.database + """
                import sys
                sys.path.insert(0, sys.path[0] + "/site-packages")
                from flask.app import Flask
                app = Flask()
                def user(): read(1)
                def logged(view):
                    def wrapper():
                        user()
                        return view()
                    return wrapper
                @logged
                def orders(): read(2)
                @logged
                def invoices(): read(3)
                def descend(depth): return descend(depth - 1) if depth else read(1)
                def deep():
                    for _ in range(5):
                        read(1)
                        descend(80)
                def inner(): read(1)
                def outer():
                    read(1)
                    for _ in range(3): app.wsgi_app(inner)
                    read(1)
                def main():
                    for _ in range(2):
                        for view in orders, invoices, deep, outer: app.wsgi_app(view)
                    for row in db.execute("SELECT 1 UNION SELECT 2"): app.wsgi_app(inner)
                main()

                """, python, in: directory)
        #expect(
            scopes == [
                Scope(name: "app.orders", kind: "request", count: 2, trips: 6, rows: 6),
                Scope(name: "app.invoices", kind: "request", count: 2, trips: 8, rows: 8),
                Scope(name: "app.deep", kind: "request", count: 2, trips: 20, rows: 20),
                Scope(name: "app.outer", kind: "request", count: 2, trips: 10, rows: 10),
                Scope(name: "app.inner", kind: "request", count: 8, trips: 8, rows: 8),
            ])
    }

    @Test(
        "A request is named by its view, and not by middleware that a server calls before",
        arguments: Python.numberingCalls)
    func servers(python: Python) throws {
        let directory = try TemporaryDirectory()
        try write(
            """
            class WSGIRequestHandler:
                def run_wsgi(self, app): return app()

            """, to: "werkzeug/serving.py", in: directory)
        try writeFlask(
            """
            class Flask:
                def __init__(self, before, view): self.before, self.view = before, view
                def wsgi_app(self):
                    self.before()
                    return self.dispatch_request()
                def dispatch_request(self): return self.view()

            """, in: directory)
        let scopes = try scopes(
            of: Self.database + """
                import sys
                sys.path.insert(0, sys.path[0] + "/site-packages")
                from flask.app import Flask
                from werkzeug.serving import WSGIRequestHandler
                def load_user(): read(1)
                def orders(): read(3)
                def middleware(app):
                    def call():
                        read(1)
                        return app.wsgi_app()
                    return call
                def plain(): read(2)
                def main():
                    for view in orders, orders: WSGIRequestHandler().run_wsgi(middleware(Flask(load_user, view)))
                    WSGIRequestHandler().run_wsgi(plain)
                main()

                """, python, in: directory)
        #expect(
            scopes == [
                Scope(name: "app.orders", kind: "request", count: 2, trips: 10, rows: 10),
                Scope(name: "app.plain", kind: "request", count: 1, trips: 2, rows: 2),
            ])
    }

    @Test("Requests that an event loop answers in turn are one each", arguments: Python.numberingCalls)
    func coroutines(python: Python) throws {
        let directory = try TemporaryDirectory()
        try write(
            """
            class Route:
                async def handle(self, view): await view()
            class WebSocketRoute:
                async def handle(self, view): await view()

            """, to: "starlette/routing.py", in: directory)
        let scopes = try scopes(
            of: Self.database + """
                import asyncio, sys
                sys.path.insert(0, sys.path[0] + "/site-packages")
                from starlette.routing import Route, WebSocketRoute
                async def orders():
                    for i in range(4):
                        read(2)
                        await asyncio.sleep(0)
                async def prices():
                    for i in range(3):
                        await asyncio.sleep(0)
                        read(1)
                async def main():
                    read(1)
                    await asyncio.gather(*[Route().handle(view) for view in (orders, prices, orders, prices)])
                    for _ in range(3): await Route().handle(prices)
                    await WebSocketRoute().handle(orders)
                asyncio.run(main())

                """, python, in: directory)
        #expect(
            scopes == [
                Scope(name: "app.orders", kind: "request", count: 2, trips: 16, rows: 16),
                Scope(name: "app.prices", kind: "request", count: 5, trips: 15, rows: 15),
            ])
    }
}
