import Foundation

/// A recorded run of the shopping list, and what its report says.
struct GroceriesRun {
    let trace: String
    let store: String
    let report: ReportDocument

    /// Warnings and errors, but for R12: whether ten thousand rows are found within a frame hangs on the machine.
    var problems: [ReportDocument.Finding] { report.findings.filter { $0.severity != "note" && $0.rule != "R12" } }

    /// Makes a store of that form, records the app on it and reads the report.
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
        // A store of 10,000 photos is too much to keep for each test.
        try FileManager.default.removeItem(at: URL(fileURLWithPath: store))
    }

    /// The line of a source file of the workload that holds a text.
    static func line(_ text: String, in file: String) throws -> Int {
        try SourceLine.find(
            text, in: BuiltCommand.package.appendingPathComponent("Sources/FaultlineWorkloads/Groceries/\(file)"))
    }
}
