import Foundation

/// A recorded run of the shopping list, and its report.
struct GroceriesRun {
    let trace: String
    let store: String
    let report: ReportDocument

    /// Warnings and errors except R12, because whether ten thousand rows load within a frame depends on the machine.
    var problems: [ReportDocument.Finding] { report.findings.filter { $0.severity != "note" && $0.rule != "R12" } }

    /// Creates the store of a form, records the app on it and reads the report.
    init(items: Int, rows: Int, flaws: String) throws {
        let directory = try TemporaryDirectory()
        store = directory.path("groceries.sqlite")
        trace = directory.path("trace.json")
        let form = [
            "workload", "groceries", "--store", store, "--items", String(items), "--rows", String(rows), "--flaws",
            flaws,
        ]
        let prepared = try BuiltCommand.run(form + ["--prepare"])
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", BuiltCommand.faultline] + form)
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        report = try ReportDocument(of: trace)
        // A store of 10,000 photos is too large to keep for each test.
        try FileManager.default.removeItem(at: URL(fileURLWithPath: store))
    }

    /// Returns the line of one of the workload's source files that contains a text.
    static func line(_ text: String, in file: String) throws -> Int {
        try SourceLine.find(
            text, in: BuiltCommand.package.appendingPathComponent("Sources/FaultlineWorkloads/Groceries/\(file)"))
    }
}
