import Foundation
import SharedData
import TestFolders
import Testing

/// A defect that a public report describes: a program that fills a database, one with the defect, and its repair.
struct ReportedDefect: CustomTestStringConvertible {
    /// The name of its programs.
    var name: String
    /// The rule that finds it; `nil` if it stands under "Not explained".
    var rule: String?
    /// The line with the statement.
    var line: Int
    /// A part of the title, of the code or of the explanation: the change.
    var change: String

    var testDescription: String { name }

    static let folder = SharedData.folder?.deletingLastPathComponent().appendingPathComponent("cases/sql")
    static var areThere: Bool { folder.map { FileManager.default.fileExists(atPath: $0.path) } ?? false }

    static let all = [
        ReportedDefect(name: "c01", rule: "R06", line: 4, change: "reading(sensor, updated)"),
        ReportedDefect(name: "c03", rule: "R06", line: 3, change: "trait(variable_id)"),
        ReportedDefect(name: "c04", rule: "R06", line: 5, change: "session(last_id) and on session(first_id)"),
        ReportedDefect(name: "c07", line: 4, change: "Choose random keys in the program"),
        ReportedDefect(name: "c09", rule: "R06", line: 4, change: "log(json_extract(raw, '$.user'))"),
        ReportedDefect(name: "c10", rule: "R06", line: 4, change: "track(cached) and on track(url)"),
        ReportedDefect(name: "c11", rule: "R06", line: 4, change: "name(lower(name))"),
        ReportedDefect(name: "c12", rule: "R08", line: 4, change: "actor(name COLLATE NOCASE)"),
        ReportedDefect(name: "c13", rule: "R06", line: 4, change: "device(name COLLATE NOCASE)"),
        ReportedDefect(name: "c14", rule: "R22", line: 4, change: "Run ANALYZE"),
        ReportedDefect(name: "c15", rule: "R22", line: 5, change: "Run ANALYZE"),
        ReportedDefect(name: "c16", rule: "R33", line: 3, change: "End the read of SELECT … FROM ledger"),
        ReportedDefect(name: "c18", rule: "R29", line: 4, change: "Read page once instead of 6 times"),
        ReportedDefect(name: "c20", rule: "R21", line: 5, change: "Keep connections open instead of opening 299"),
        ReportedDefect(name: "c22", rule: "R06", line: 4, change: "rel(type, from_iri, to_iri)"),
        ReportedDefect(name: "c24", rule: "R08", line: 4, change: "comment.body with a full-text index"),
        ReportedDefect(name: "c26", rule: "R06", line: 4, change: "ev(kind), and run ANALYZE"),
        ReportedDefect(name: "c27", line: 5, change: "Use keys that grow"),
        ReportedDefect(name: "c28", line: 4, change: "put the condition or the sum into the statement"),
        ReportedDefect(name: "c34", rule: "R06", line: 4, change: "client(base_id COLLATE NOCASE)"),
    ]

    static var withRepair: [ReportedDefect] {
        all.filter { FileManager.default.fileExists(atPath: $0.script("good")) }
    }

    /// Whether a report names the cause and the change.
    ///
    /// Whether a finding is more than a note depends on the time that the machine took.
    ///
    /// - Parameter anywhere: Whether other lines count, too.
    func isNamed(in report: Data, anywhere: Bool = false) throws -> Bool {
        let document = try JSONDecoder().decode(ReportDocument.self, from: report)
        guard let rule else {
            return document.unexplained.contains { work in
                (anywhere || work.group.site?.line == line)
                    && work.explanation.joined(separator: " ").contains(change)
            }
        }
        return document.findings.contains { finding in
            finding.rule == rule && (anywhere || finding.change?.line == line)
                && ([finding.title] + finding.code + finding.alternatives).contains { $0.contains(change) }
        }
    }

    /// The path of a part of the case.
    private func script(_ part: String) -> String {
        Self.folder?.appendingPathComponent("\(name)_\(part).py").path ?? ""
    }

    /// The report about a form, as JSON.
    func report(_ form: String) throws -> Data {
        let directory = try TemporaryDirectory()
        if FileManager.default.fileExists(atPath: script("setup")) {
            let setup = try BuiltCommand.run(
                [script("setup"), form], program: PythonPackages.python, directory: directory.url)
            try #require(setup.status == 0, "\(setup.errors)")
        }
        let run = try BuiltCommand.run(
            ["record", "--quiet", "-o", "trace.json", "--", PythonPackages.python, script(form)],
            directory: directory.url)
        try #require(run.status == 0, "\(run.errors)")
        let report = try BuiltCommand.run(
            ["report", "trace.json", "--format", "json"], directory: directory.url)
        return Data(report.output.utf8)
    }
}

@Suite(
    "Defects of public reports",
    .enabled(
        if: ReportedDefect.areThere, "needs cases/sql beside the shared data, with the programs of reported defects"))
struct ReportedDefectTests {
    @Test("are found with their line and the change that mends them", arguments: ReportedDefect.all)
    func flawed(defect: ReportedDefect) throws {
        let report = try defect.report("bad")
        #expect(try defect.isNamed(in: report), "\(String(decoding: report, as: UTF8.self))")
    }

    @Test("are not found after their repair", arguments: ReportedDefect.withRepair)
    func repaired(defect: ReportedDefect) throws {
        let report = try defect.report("good")
        #expect(try !defect.isNamed(in: report, anywhere: true), "\(String(decoding: report, as: UTF8.self))")
    }
}
