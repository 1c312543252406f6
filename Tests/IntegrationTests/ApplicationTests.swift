import ApplicationFlaws
import Foundation
import Testing

extension Flaw {
    /// The line to change, as reports have it.
    func changedLine() throws -> String {
        let source = BuiltCommand.package.appendingPathComponent("Tests/Applications/\(application)/\(file)")
        return "\(file):\(try SourceLine.find(line, in: source))"
    }

    /// Records the scenario on a new store.
    func report(_ form: String) throws -> ReportDocument {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("store.sqlite"), directory.path("trace.json"))
        let path = BuiltCommand.programs.appendingPathComponent(application).path
        let prepared = try BuiltCommand.run([store, form, "prepare"], program: path)
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", path, store, form, scenario])
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        return try ReportDocument(of: trace)
    }
}

@Suite("Small applications")
struct ApplicationTests {
    @Test("are told of each flaw, with the line to change, and of no other", arguments: Flaw.all)
    func flawed(flaw: Flaw) throws {
        let report = try flaw.report("flawed")
        let finding = try #require(
            report.findings.first { flaw.isShown(by: $0.rule, $0.title) },
            "found: \(report.findings.map { "\($0.rule) \($0.title)" })")
        #expect(flaw.mayBeNote || finding.severity != "note")
        #expect(finding.change?.text == (try flaw.changedLine()))
        let others = report.findings.filter { $0.severity != "note" && $0.rule != flaw.rule }
        #expect(others.filter { !flaw.others.contains($0.rule) }.map { "\($0.rule) \($0.title)" } == [])
    }

    @Test("get no warning once they are repaired", arguments: Flaw.all)
    func repaired(flaw: Flaw) throws {
        let report = try flaw.report("repaired")
        let found = report.findings.filter { $0.severity != "note" || flaw.isShown(by: $0.rule, $0.title) }
        #expect(found.map { "\($0.rule) \($0.title)" } == [])
    }
}
