import Foundation
import Testing

/// Tests recordings to LTTng of programs that do not know Faultline.
@Suite(
    "A program that does not know Faultline, recorded to LTTng",
    .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need), .enabled(if: !Python.known.isEmpty, "needs python3"))
struct ObservedLTTngTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try write(
            """
            import os, sqlite3, subprocess, sys

            def read(count):
                shop = sqlite3.connect("shop.db")
                for number in range(count):
                    shop.execute("SELECT name FROM item WHERE id = ?", (number % 50,)).fetchone()
                shop.close()

            if len(sys.argv) == 1:
                shop = sqlite3.connect("shop.db")
                shop.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
                with shop:
                    shop.executemany("INSERT INTO item (name) VALUES (?)", [(str(n),) for n in range(50)])
                shop.close()
                read(200)
                for number in range(3):
                    child = os.fork()
                    if child == 0:
                        read(100)
                        os._exit(0)
                    os.waitpid(child, 0)
                subprocess.run([sys.executable, sys.argv[0], "child"])
                print("served")
                sys.exit(7)
            else:
                read(100)

            """)
    }

    /// Makes a script the program that is recorded.
    private func write(_ script: String) throws {
        try script.write(toFile: directory.path("shop.py"), atomically: true, encoding: .utf8)
    }

    private func record(_ options: String = "") throws -> BuiltCommand.Result {
        let python = Python.known[0].path
        return try LTTngSandbox.run(
            """
            status=0
            mkdir temporary
            TMPDIR=$PWD/temporary $FAULTLINE record --to lttng \(options) -o ctf -- \(python) shop.py || status=$?
            ls -A temporary
            exit $status
            """, directory: directory)
    }

    @Test("has the statements of all its processes, at their lines")
    func statements() throws {
        let result = try record()
        #expect(result.status == 7 && result.output == "served\n", "\(result.output)\(result.errors)")
        let trace = directory.path("ctf")
        let events = try RecordedEvents(of: trace)
        let reads = events.of("sql").filter { $0.sql == "SELECT name FROM item WHERE id = ?" }
        let counts = Dictionary(grouping: reads, by: \.process).mapValues(\.count)
        #expect(counts.values.sorted() == [100, 100, 100, 100, 200])
        // Forked children have numbers of their own, and each process ended.
        #expect(counts.keys.allSatisfy { $0 < 1 << 22 }, "\(counts.keys)")
        #expect(result.errors.contains("events of 5 processes, none lost"), "\(result.errors)")
        #expect(!result.errors.contains("killed"), "\(result.errors)")

        let report = try ReportDocument(of: trace)
        let finding = try #require(report.findings.first { $0.rule == "R27" })
        #expect(finding.change?.text == "shop.py:6")
        // The trace has statements alone, and the report says so.
        let text = try BuiltCommand.run(["report", "--all", trace]).output
        #expect(text.contains("(fetches and saves)"), "\(text)")
    }

    @Test("ends when it replaces itself with another program, which is recorded too")
    func replaced() throws {
        try write(
            """
            import os, sqlite3, sys

            sqlite3.connect(":memory:").execute("SELECT ?", (1,)).fetchall()
            if len(sys.argv) == 1:
                os.execv(sys.executable, [sys.executable, sys.argv[0], "again"])

            """)
        let result = try record()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try RecordedEvents(of: directory.path("ctf")).of("sql").map(\.sql) == ["SELECT ?", "SELECT ?"])
        #expect(result.errors.contains("2 events of 2 processes, none lost"), "\(result.errors)")
        #expect(!result.errors.contains("has no end"), "\(result.errors)")
    }

    @Test("has the samples of its CPU time, with Python's functions")
    func samples() throws {
        try write(
            """
            import sqlite3, time

            def spin():
                start = time.process_time()
                while time.process_time() - start < 0.2:
                    sum(range(1000))

            sqlite3.connect(":memory:").execute("SELECT 1").fetchall()
            spin()

            """)
        let result = try record("--cpu --quiet")
        #expect(result.status == 0, "\(result.errors)")
        let run = SampledRun(result: result, trace: directory.path("ctf"))
        // Most of 200 ms.
        let spinning = try run.paths().filter { $0.key.contains("spin") }.values.reduce(0, +)
        #expect(spinning >= 100_000_000, run.summary)
    }

    @Test("runs as before if LTTng's library cannot be loaded or is missing, and the command says so")
    func withoutLibrary() throws {
        let python = Python.known[0].path
        let result = try LTTngSandbox.run(
            """
            status=0
            mkdir bin && ln "$FAULTLINE" bin/faultline 2>/dev/null || cp "$FAULTLINE" bin/faultline
            cp "$(dirname "$FAULTLINE")/libFaultlinePreload.so" bin
            echo 'no library' > bin/libFaultlineLTTng.so
            bin/faultline record --to lttng -o ctf -- \(python) shop.py child || status=$?
            rm bin/libFaultlineLTTng.so
            bin/faultline record --to lttng -o ctf -- \(python) -c pass
            exit $status
            """, directory: directory)
        // There is no table.
        #expect(result.status == 1 && result.errors.contains("no such table: item"), "\(result.errors)")
        #expect(
            result.errors.contains(
                "faultline: 1 process of the command could not load LTTng's library; \"faultline doctor\" tests it."),
            "\(result.errors)")
        #expect(
            result.errors.hasSuffix(
                "none uses FaultlineStore, and libFaultlineLTTng.so, which records other programs, is not beside the command; "
                    + "build it with \"make build\".\n"),
            "\(result.errors)")
    }
}
