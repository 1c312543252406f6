import ApplicationFlaws
import Foundation
import Synchronization
import Testing

extension Flaw {
    /// Returns the line to change, as reports print it.
    func changedLine() throws -> String {
        let source = BuiltCommand.package.appendingPathComponent("Tests/Applications/\(application)/\(file)")
        return "\(file):\(try SourceLine.find(line, in: source))"
    }

    private var path: String { BuiltCommand.programs.appendingPathComponent(application).path }

    /// The stores that the programs have filled, by program and form.
    private static let prepared = Mutex<[[String]: URL]>([:])

    /// Returns a directory with the store that a form of the program fills, named `store.sqlite`.
    private func prepared(_ form: String) throws -> URL {
        try Self.prepared.withLock { known in
            if let directory = known[[application, form]] { return directory }
            let directory = try TemporaryDirectory()
            let prepared = try BuiltCommand.run([directory.path("store.sqlite"), form, "prepare"], program: path)
            guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
            known[[application, form]] = directory.url
            return directory.url
        }
    }

    /// Records the scenario on a store of its own and returns the report.
    func report(_ form: String) throws -> ReportDocument {
        let directory = try TemporaryDirectory().url.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: try prepared(form), to: directory)
        let store = directory.appendingPathComponent("store.sqlite").path
        let trace = directory.appendingPathComponent("trace.json").path
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", path, store, form, scenario])
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        guard let thresholds else { return try ReportDocument(of: trace) }
        let file = directory.appendingPathComponent("thresholds.json")
        try Data(thresholds.utf8).write(to: file)
        return try ReportDocument(of: trace, thresholds: file.path)
    }
}

@Suite("Small applications")
struct ApplicationTests {
    @Test("get a finding for each flaw, with the line to change, and no other warning", arguments: Flaw.all)
    func flawed(flaw: Flaw) throws {
        var (report, finding) = try recorded(flaw)
        // Severity depends on the saving's share of the run, which is smaller on a busy machine.
        for _ in 0..<4 where !flaw.mayBeNote && finding.severity == "note" { (report, finding) = try recorded(flaw) }
        #expect(flaw.mayBeNote || finding.severity != "note")
        #expect(finding.change?.text == (try flaw.changedLine()))
        if let code = flaw.code { #expect(finding.code == code) }
        let others = report.findings.filter { $0.severity != "note" && $0.rule != flaw.rule }
        #expect(others.filter { !flaw.others.contains($0.rule) }.map { "\($0.rule) \($0.title)" } == [])
    }

    /// Returns the report of the flawed form, and the finding that identifies the flaw.
    private func recorded(_ flaw: Flaw) throws -> (report: ReportDocument, finding: ReportDocument.Finding) {
        let report = try flaw.report("flawed")
        let finding = try #require(
            report.findings.first { flaw.isShown(by: $0.rule, $0.title) },
            "found: \(report.findings.map { "\($0.rule) \($0.title)" })")
        return (report, finding)
    }

    @Test("get no warning once they are repaired", arguments: Flaw.all)
    func repaired(flaw: Flaw) throws {
        let report = try flaw.report("repaired")
        let found = report.findings.filter { $0.severity != "note" || flaw.isShown(by: $0.rule, $0.title) }
        #expect(found.map { "\($0.rule) \($0.title)" } == [])
    }
}
