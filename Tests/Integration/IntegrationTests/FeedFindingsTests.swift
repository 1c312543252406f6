import ApplicationFlaws
import Foundation
import Testing

@Suite("The feed")
struct FeedFindingsTests {
    private static let path = BuiltCommand.programs.appendingPathComponent("Feed").path

    /// Returns the line of the source that contains a text.
    private static func line(_ text: String) throws -> String {
        try Flaw("Feed", "growth", "", "", line: text, file: "Program+Growth.swift").changedLine()
    }

    /// Multiplies the messages by ten, with new numbers.
    private static let multiply = """
        INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZISREAD, ZNUMBER, ZSIZE, ZTEXT, ZCHANNEL)
            SELECT Z_PK + n * most, Z_ENT, Z_OPT, ZISREAD, ZNUMBER + n * most, ZSIZE, ZTEXT, ZCHANNEL
            FROM ZMESSAGE, (SELECT max(Z_PK) AS most FROM ZMESSAGE),
                (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT n FROM c);
        UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZMESSAGE) WHERE Z_NAME = 'Message';
        """

    @Test("costs as much as projected with ten and a hundred times the rows")
    func growth() throws {
        // Other processes can make one of the runs slower than the others.
        var misses: [String] = []
        for _ in 0..<3 {
            misses = try projectionMisses()
            if misses.isEmpty { return }
        }
        #expect(misses == [])
    }

    private func projectionMisses() throws -> [String] {
        let directory = try TemporaryDirectory()
        let store = directory.path("feed.sqlite")
        let prepared = try BuiltCommand.run([store, "repaired", "prepare", "60", "20"], program: Self.path)
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        let reports = try (0..<3).map { size in
            if size > 0 { try SQLiteFile.run(Self.multiply, on: store) }
            let (trace, form) = (directory.path("growth.json"), [Self.path, store, "repaired", "growth"])
            let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--"] + form)
            guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
            return try ReportDocument(of: trace)
        }
        func median(_ report: ReportDocument, _ line: String) throws -> Double {
            Double(try #require(report.groups.first { $0.kind == "fetch" && $0.site?.text == line }).durations.p50)
        }
        func growth(_ comment: String) throws -> (line: String, growth: ReportDocument.Growth?) {
            let line = try Self.line(comment)
            return (line, try #require(reports[0].results.first { $0.site?.text == line }).growth)
        }
        var misses: [String] = []
        let projected = ["// scanned", "// sought", "// sorted", "// in order", "// first in order", "// searched"]
        for comment in projected + ["// sorted for a few", "// all counted", "// counted by a scan"] {
            let (line, growth) = try growth(comment)
            guard let growth else {
                if ["// sorted", "// in order", "// searched"].contains(comment) {
                    misses.append("\(comment): nothing")
                }
                continue
            }
            for (size, range) in [(1, growth.tenfold), (2, growth.hundredfold)] {
                let measured = try median(reports[size], line)
                if !(range.low...range.high).contains(measured) {
                    misses.append("\(comment): \(measured), not \(range.low)–\(range.high)")
                }
            }
        }
        // An index and a limit find the same number of rows, however many there are.
        for comment in ["// sought", "// first in order"] {
            #expect(try growth(comment).growth?.order == "log n")
        }
        return misses
    }
}
