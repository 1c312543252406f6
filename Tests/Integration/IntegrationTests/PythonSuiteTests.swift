import Foundation
import TestFolders
import Testing

@Suite("CPython's own tests of its sqlite3 module", .enabled(if: !Python.known.isEmpty, "needs python3"))
struct PythonSuiteTests {
    /// The interpreters that come with these tests.
    private static let tested = Python.known.filter { python in
        (try? BuiltCommand.run(["-c", "import test.\(module(python))"], program: python.path).status) == 0
    }

    private static func module(_ python: Python) -> String { python.minor < 11 ? "test_sqlite" : "test_sqlite3" }

    /// The lines that name a test and its result, in any order: `"test_close (…) ... ok"`.
    private static func results(_ run: BuiltCommand.Result) -> [String] {
        run.errors.split(separator: "\n").map(String.init).filter { $0.contains(" ... ") }.sorted()
    }

    @Test(
        "have the same results when they are recorded",
        .enabled(if: !tested.isEmpty, "runs only where Python has its tests, as pyenv's versions do"), arguments: tested
    )
    func same(python: Python) throws {
        let directory = try TemporaryDirectory()
        let words = ["-m", "unittest", "-v", "test.\(Self.module(python))"]
        let alone = try BuiltCommand.run(words, program: python.path, directory: directory.url)
        let trace = directory.path("trace.json")
        let recorded = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace, "--", python.path] + words, directory: directory.url)
        #expect(Self.results(alone).count > 200)
        #expect(Self.results(recorded) == Self.results(alone))
        #expect(recorded.status == alone.status)
        #expect(try ReportDocument(of: trace).findings.allSatisfy { !$0.title.isEmpty })
    }
}
