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

    @Test("grows as SQLite's work does: with the rows, or hardly at all where an index and a limit find some")
    func growth() throws {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("feed.sqlite"), directory.path("growth.json"))
        let prepared = try BuiltCommand.run([store, "repaired", "prepare", "60", "20"], program: Self.path)
        try #require(prepared.status == 0, "\(prepared.errors)")
        let form = [Self.path, store, "repaired", "growth"]
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--"] + form)
        try #require(recorded.status == 0, "\(recorded.errors)")
        let results = try ReportDocument(of: trace).results
        for (comment, order) in [
            ("// sorted", "n"), ("// in order", "n"), ("// searched", "n"), ("// sought", "log n"),
            ("// first in order", "log n"),
        ] {
            let line = try Self.line(comment)
            #expect(results.first { $0.site?.text == line }?.growth?.order == order, "\(comment)")
        }
    }
}
