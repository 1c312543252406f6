import Foundation
import Testing

/// A chat that does the same in two forms, with and without flaws.
enum ChatProgram {
    private static let path = BuiltCommand.programs.appendingPathComponent("ChatProgram").path

    /// The line of its source that holds a text.
    static func line(_ text: String, in file: String = "main.swift") throws -> String {
        let source = BuiltCommand.package.appendingPathComponent("Tests/ChatProgram/\(file)")
        return "\(file):\(try SourceLine.find(text, in: source))"
    }

    /// Records a scenario on a new store.
    static func report(_ scenario: String, isNaive: Bool) throws -> ReportDocument {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("chat.sqlite"), directory.path("trace.json"))
        let form = isNaive ? "naive" : "improved"
        let prepared = try BuiltCommand.run([store, form, "prepare"], program: path)
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", path, store, form, scenario])
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        return try ReportDocument(of: trace)
    }
}

@Suite("The chat program")
struct ChatFindingsTests {
    /// What one rule finds of the flawed form and not of the other.
    struct Flaw: Sendable, CustomTestStringConvertible {
        var scenario: String
        var rule: String
        var title: String
        /// The comment on the line to change.
        var line: String

        var testDescription: String { "\(scenario): \(rule)" }
    }

    static let flaws = [
        Flaw(scenario: "authors", rule: "R06", title: "Index Member by name", line: "// by author's name"),
        Flaw(scenario: "sized", rule: "R06", title: "Index Message by size", line: "// of a size"),
        Flaw(
            scenario: "order", rule: "R07", title: "Compare size before text in the predicate of Message",
            line: "// in the wrong order"),
        Flaw(
            scenario: "list", rule: "R02", title: "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown as a list"),
        Flaw(
            scenario: "sections", rule: "R02", title: "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown by day"),
        Flaw(
            scenario: "prefetch", rule: "R20", title: #"Do not prefetch "author" with the fetch of Message"#,
            line: "// sorted, with authors"),
        Flaw(
            scenario: "profiles", rule: "R16",
            title: #"Fold Profile into Member, which always reads it through "profile""#, line: "// members"),
    ]

    @Test("is told what to change, and where", arguments: flaws)
    func naive(flaw: Flaw) throws {
        let report = try ChatProgram.report(flaw.scenario, isNaive: true)
        let finding = try #require(report.findings.first { $0.rule == flaw.rule })
        #expect(finding.title == flaw.title && finding.severity != "note")
        #expect(finding.change?.text == (try ChatProgram.line(flaw.line)))
    }

    @Test("is told nothing of it once it is changed so", arguments: flaws)
    func improved(flaw: Flaw) throws {
        let report = try ChatProgram.report(flaw.scenario, isNaive: false)
        #expect(report.findings.filter { $0.rule == flaw.rule }.map(\.title) == [])
    }

    @Test("is not told to index what most messages have in common")
    func selectivity() throws {
        #expect(try ChatProgram.report("readTrains", isNaive: true).findings.filter { $0.rule == "R06" }.isEmpty)
    }

    @Test("is told of a text search no more than it compares", arguments: [true, false])
    func comparisons(isNaive: Bool) throws {
        let found = try ChatProgram.report("sized", isNaive: isNaive).findings.filter { $0.rule == "R08" }
        #expect(found.allSatisfy { $0.severity == "note" && $0.figure("candidates") == 60 })
    }

    @Test("loads no photos with the properties that it names")
    func partialFaults() throws {
        #expect(try ChatProgram.report("partial", isNaive: false).findings.filter { $0.rule == "R09" }.isEmpty)
        let found = try ChatProgram.report("partial", isNaive: true).findings.filter { $0.rule == "R09" }
        #expect(found.map(\.title) == ["Move Message.photo into an entity of its own"])
    }
}
