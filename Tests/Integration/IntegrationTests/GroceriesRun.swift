import Foundation
import Synchronization

/// A recorded run of the shopping list, and its report.
struct GroceriesRun {
    let trace: String
    let store: String
    let report: ReportDocument

    /// Warnings and errors except R12, because whether ten thousand rows load within a frame depends on the machine.
    var problems: [ReportDocument.Finding] { report.findings.filter { $0.severity != "note" && $0.rule != "R12" } }

    /// The folders with the stores that were filled, by the number of items and the place of the photo.
    private static let filled = Mutex<[String: URL]>([:])

    /// Records the app on a store of its form, and reads the report.
    init(items: Int, rows: Int, flaws: String) throws {
        let folder = try TemporaryDirectory().url.appendingPathComponent("list")
        store = folder.appendingPathComponent("groceries.sqlite").path
        trace = folder.appendingPathComponent("trace.json").path
        try FileManager.default.copyItem(at: Self.folder(items: items, flaws: flaws), to: folder)
        let form = Self.form(store, items: items, flaws: flaws) + ["--rows", String(rows)]
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", BuiltCommand.faultline] + form)
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        report = try ReportDocument(of: trace)
        // A store of 10,000 photos is too large to keep for each test.
        try FileManager.default.removeItem(at: URL(fileURLWithPath: store))
    }

    private static func form(_ store: String, items: Int, flaws: String) -> [String] {
        ["workload", "groceries", "--store", store, "--items", String(items), "--flaws", flaws]
    }

    /// Returns a folder with a store that has the items; filling one takes several seconds.
    private static func folder(items: Int, flaws: String) throws -> URL {
        let layout = ["photo", "all"].contains(flaws) ? "photo" : "none"
        return try filled.withLock { known in
            if let folder = known["\(items) \(layout)"] { return folder }
            let folder = try TemporaryDirectory()
            let prepared = try BuiltCommand.run(
                form(folder.path("groceries.sqlite"), items: items, flaws: layout) + ["--prepare"])
            guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
            known["\(items) \(layout)"] = folder.url
            return folder.url
        }
    }

    /// Returns the line of one of the workload's source files that contains a text.
    static func line(_ text: String, in file: String) throws -> Int {
        try SourceLine.find(
            text,
            in: BuiltCommand.package.appendingPathComponent("Sources/Command/FaultlineWorkloads/Groceries/\(file)"))
    }
}
