import ApplicationFlaws
import Foundation
import Synchronization
import Testing

extension Flaw {
    /// Returns the line to change, as reports print it.
    func changedLine() throws -> String {
        let source = BuiltCommand.package.appendingPathComponent(
            "Tests/Integration/Applications/\(application)/\(file)")
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

    /// Records the scenario on a store of its own and returns the trace.
    func trace(_ form: String) throws -> String {
        let directory = try TemporaryDirectory().url.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: try prepared(form), to: directory)
        let store = directory.appendingPathComponent("store.sqlite").path
        let trace = directory.appendingPathComponent("trace.json").path
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", path, store, form, scenario])
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        return trace
    }

    /// Returns the report of a trace.
    ///
    /// - Parameter isAnySignificant: Whether a saving of any share of the run is worth a warning. On a busy machine the same
    ///   saving is a smaller share.
    func report(_ trace: String, isAnySignificant: Bool = false) throws -> ReportDocument {
        let own = try JSONSerialization.jsonObject(with: Data((thresholds ?? "{}").utf8))
        var all = try #require(own as? [String: [String: Any]])
        if isAnySignificant { all["significance", default: [:]]["share"] = "0 %" }
        let file = trace + "-thresholds.json"
        try JSONSerialization.data(withJSONObject: all).write(to: URL(fileURLWithPath: file))
        return try ReportDocument(of: trace, thresholds: file)
    }
}

@Suite("Small applications")
struct ApplicationTests {
    @Test("get a finding for each flaw, with the line to change, and no other warning", arguments: Flaw.all)
    func flawed(flaw: Flaw) throws {
        let trace = try flaw.trace("flawed")
        let all = try flaw.report(trace, isAnySignificant: true).findings
        let finding = try #require(
            all.first { flaw.isShown(by: $0.rule, $0.title) }, "found: \(all.map { "\($0.rule) \($0.title)" })")
        #expect(flaw.mayBeNote || finding.severity != "note")
        #expect(finding.change?.text == (try flaw.changedLine()))
        if let code = flaw.code { #expect(finding.code == code) }
        let others = try flaw.report(trace).findings.filter { $0.severity != "note" && $0.rule != flaw.rule }
        #expect(others.filter { !flaw.others.contains($0.rule) }.map { "\($0.rule) \($0.title)" } == [])
    }

    @Test("get no warning once they are repaired", arguments: Flaw.all)
    func repaired(flaw: Flaw) throws {
        let report = try flaw.report(flaw.trace("repaired"))
        let found = report.findings.filter { $0.severity != "note" || flaw.isShown(by: $0.rule, $0.title) }
        #expect(found.map { "\($0.rule) \($0.title)" } == [])
    }
}
