import Foundation

/// A recorded run of the shopping list, and what its report says.
struct GroceriesRun {
    /// A finding as the JSON report tells it.
    struct Finding: Decodable {
        struct Change: Decodable {
            var file: String
            var line: Int
        }

        var rule: String
        var severity: String
        var title: String
        var change: Change?
        var code: [String]
    }

    private struct Report: Decodable {
        var findings: [Finding]
    }

    let trace: String
    let store: String
    let findings: [Finding]

    /// Warnings and errors.
    var problems: [Finding] { findings.filter { $0.severity != "note" } }

    /// Makes a store of that form, records the app on it and reads the report.
    init(items: Int, rows: Int, flaws: String) throws {
        let directory = try TemporaryDirectory()
        store = directory.path("groceries.sqlite")
        trace = directory.path("trace.json")
        let form = [
            "workload", "groceries", "--store", store, "--items", String(items), "--rows", String(rows), "--flaws", flaws,
        ]
        let prepared = try BuiltCommand.run(form + ["--prepare"])
        guard prepared.status == 0 else { throw Failure(text: prepared.errors) }
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", BuiltCommand.faultline] + form)
        guard recorded.status == 0 else { throw Failure(text: recorded.errors) }
        let reported = try BuiltCommand.run(["report", trace, "--format", "json"])
        guard reported.status == 0 else { throw Failure(text: reported.errors) }
        findings = try JSONDecoder().decode(Report.self, from: Data(reported.output.utf8)).findings
        // A store of 10,000 photos is too much to keep for each test.
        try FileManager.default.removeItem(at: URL(fileURLWithPath: store))
        try? FileManager.default.removeItem(atPath: directory.path(".groceries_SUPPORT"))
    }

    struct Failure: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    /// The line of a source file of the workload that holds a text.
    static func line(_ text: String, in file: String) throws -> Int {
        let path = BuiltCommand.package.appendingPathComponent("Sources/FaultlineWorkloads/Groceries/\(file)")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        guard let index = lines.firstIndex(where: { $0.contains(text) }) else { throw Failure(text: "no \(text) in \(file)") }
        return index + 1
    }
}
