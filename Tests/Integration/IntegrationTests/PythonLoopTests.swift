import Foundation
import TestFolders
import Testing

@Suite(
    "A loop of a Python program is one call of a function, however long it takes",
    .enabled(if: !Python.known.isEmpty, "needs python3"))
struct PythonLoopTests {
    /// Loops of several kinds, each with a statement of its own name, that run three times without a pause between them.
    private static let program = """
        import sqlite3, threading, time
        db = sqlite3.connect(":memory:")

        def prepare(db):
            db.execute("CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)")
            db.executemany("INSERT INTO author VALUES (?, ?)", [(i, str(i)) for i in range(61)])

        def one(kind, i):
            return db.execute(f"SELECT name AS {kind} FROM author WHERE id = ?", (i,)).fetchone()

        def plain():
            for i in range(60):
                db.execute("SELECT name AS plain FROM author WHERE id = ?", (i,)).fetchone()

        def helper():
            for i in range(60): one("helper", i)

        def comprehension(): return [one("comprehension", i) for i in range(60)]

        def mapped(): return list(map(lambda i: one("mapped", i), range(60)))

        def ordered(): return sorted(range(60), key=lambda i: one("ordered", i))

        class Book:
            def __init__(self, i): self.i = i
            @property
            def author(self): return one("property", self.i)

        def properties():
            for i in range(60): Book(i).author

        def rows():
            for i in range(60): yield one("generator", i)

        def generator():
            for row in rows(): pass

        def pair(i):
            one("first", i)
            one("second", i)

        def pairs():
            for i in range(60): pair(i)

        def streamed():
            for row in db.execute("SELECT id FROM author WHERE id < 60"): one("streamed", row[0])

        def nested():
            for i in range(6):
                for j in range(10): one("nested", i * 10 + j)

        def slow():
            for i in range(6):
                one("slow", i)
                time.sleep(0.03)

        def twice():
            for i in range(60):
                one("twice", i)
                one("twice", 60 - i)

        def single(i): one("single", i)

        def thread():
            own = sqlite3.connect(":memory:")
            prepare(own)
            for i in range(60):
                own.execute("SELECT name AS thread FROM author WHERE id = ?", (i,)).fetchone()

        def main():
            prepare(db)
            for function in plain, helper, comprehension, mapped, ordered, properties, generator, pairs, streamed:
                for _ in range(3): function()
            for function in nested, slow, twice: function()
            for i in range(60): single(i)
            for _ in range(3):
                worker = threading.Thread(target=thread)
                worker.start()
                worker.join()

        main()

        """

    /// The runs and the loops of each statement in the report.
    private func loops(_ python: Python) throws -> [String: [Int]] {
        let trace = try python.record(Self.program, in: TemporaryDirectory())
        var loops: [String: [Int]] = [:]
        for finding in try ReportDocument(of: trace).findings where finding.rule == "R27" {
            let name = finding.code.joined().firstMatch(of: /name AS (\w+)/).map { String($0.1) }
            loops[name ?? "", default: []] += ["executions", "occurrences"].map { Int(finding.figure($0) ?? 0) }
        }
        return loops
    }

    @Test(
        "Each call of a function with a loop is a loop, and a loop has all its runs", arguments: Python.numberingCalls)
    func loops(python: Python) throws {
        let thrice = [
            "plain", "helper", "comprehension", "mapped", "ordered", "property", "generator", "first", "second",
            "streamed",
            "thread",
        ]
        var expected = Dictionary(uniqueKeysWithValues: thrice.map { ($0, [180, 3]) })
        expected.merge(["nested": [60, 1], "slow": [6, 1], "twice": [120, 1], "single": [60, 1]]) { $1 }
        #expect(try loops(python) == expected)
    }
}
