import Foundation
import Testing

@Suite("The report of a Django log")
struct DjangoReportTests {
    /// Returns the log of a page that loads the author of each of 40 books separately, within a transaction.
    private static func log(_ prefix: String = "") -> String {
        var lines = ["(0.000) BEGIN; args=None; alias=default"]
        lines.append(#"(0.002) SELECT "id" FROM "shop_book" WHERE "year" = 1984; args=(1984,); alias=default"#)
        lines += (1...40).map {
            #"(0.000) SELECT "shop_author"."name" FROM "shop_author" WHERE "shop_author"."id" = \#($0) LIMIT 21; "#
                + "args=(\($0),); alias=default"
        }
        lines += ["Not logged: it's a page", "(0.001) COMMIT; args=None; alias=default"]
        return lines.map { "\(prefix)\($0)\n" }.joined()
    }

    private func run(_ command: [String], _ text: String) throws -> BuiltCommand.Result {
        let directory = try TemporaryDirectory()
        let log = directory.path("django.log")
        try text.write(toFile: log, atomically: false, encoding: .utf8)
        return try BuiltCommand.run([command[0], log] + command.dropFirst())
    }

    @Test("groups the statements, and lists the gaps of the log")
    func report() throws {
        let result = try run(["report", "--all"], Self.log())
        #expect(result.status == 0 && result.errors == "")
        let words = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains(#"LIMIT 21 40 <1 ms <1 ms – – –"#))
        #expect(words.contains(#"WHERE "year" = ? 1 2.00 ms 2.00 ms – 2.00 ms –"#))
        #expect(words.contains("statements: 41 reads, 2 for transactions"))
        #expect(words.contains("row counts, fetches or saves."))
        #expect(words.contains("Durations are whole milliseconds"))
        #expect(words.contains("It has no start times ({asctime} in the format logs them)."))
        #expect(!words.contains("rows loaded") && !words.contains("recorded time") && !words.contains("No scope"))
        #expect(!words.contains("1984"))
        #expect(words.contains("40 runs of SELECT name FROM shop_author WHERE id = ? LIMIT 21. →"))
    }

    @Test("has the recorded time if the format has times")
    func times() throws {
        let prefix = { (second: Int) in "DEBUG 2026-11-24 20:19:\(second),123 utils 1234 140737353967424 " }
        let end = prefix(18) + "(0.000) BEGIN; args=None; alias=default\n"
        let result = try run(["report"], Self.log(prefix(17)) + end)
        #expect(result.status == 0 && !result.output.contains("start times"))
        #expect(result.output.contains("3.00 ms, 0.3 % of the recorded time"))
        #expect(result.output.contains("trace: 1.00 s, 44 events, none lost"))
    }

    @Test("reports what could not be read")
    func damage() throws {
        let result = try run(["report"], Self.log() + "(0.001) SELECT 'x")
        #expect(
            result.errors == "faultline: 1 damaged line was left out, the first in line 45: its record breaks off.\n")
        #expect(result.output.contains("1 damaged part of the trace could not be read"))
    }

    @Test("counts statements against a budget, but not rows")
    func check() throws {
        let directory = try TemporaryDirectory()
        let budget = directory.path("budget.json")
        try #"{"total": {"trips": 10, "rows": 1}}"#.write(toFile: budget, atomically: false, encoding: .utf8)
        let result = try run(["check", "--budget", budget], Self.log())
        #expect(result.status == 1 && result.output.contains("41"), "\(result)")
    }
}
