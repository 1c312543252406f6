import ArgumentParser
import FaultlineWorkloads
import Foundation

/// Records a sample app with its flaws and without them, and shows both reports and the difference.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Records a shopping list with three flaws and without them, and compares.",
        discussion: """
            The flaws: batches of 50 whatever the screen shows, a photo in the row that the list fetches, and a \
            location that each row looks up. Everything is run and measured here and now.
            """)

    @Option(name: .long, help: "How many items there are.")
    var items = 2000

    @Option(name: .long, help: "How many rows a screen shows.")
    var rows = 10

    @Option(name: .shortAndLong, help: "A directory for the stores and traces; it is kept. Default: a temporary one.")
    var output: String?

    func validate() throws {
        guard items > 0, rows > 0 else {
            throw ValidationError("--items and --rows are numbers from 1 on.")
        }
    }

    func run() throws {
        let directory = try makeDirectory()
        defer { if output == nil { try? FileManager.default.removeItem(at: directory) } }
        let before = try run("with all three flaws", .all, in: directory)
        let after = try run("with none", [], in: directory)
        guard before.output == after.output else {
            throw CommandFailure.tool("The two forms of the demo showed different things; please report this.")
        }
        try Terminal.output.write(DemoComparison(before: before, after: after).text())
        if let output { try Terminal.output.write("\nThe stores and traces are in \(output).\n") }
    }

    private func makeDirectory() throws -> URL {
        let url =
            output.map { URL(fileURLWithPath: $0) }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("faultline-demo-\(getpid())")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure.usage("The directory \"\(url.path)\" cannot be made (\(error.localizedDescription)).")
        }
        return url
    }

    private func run(_ title: String, _ flaws: GroceriesFlaws, in directory: URL) throws -> DemoRun {
        let name = flaws.isEmpty ? "improved" : "flawed"
        let store = directory.appendingPathComponent("\(name).sqlite")
        do {
            try Groceries.prepare(GroceriesForm(items: items, visibleRows: rows, flaws: flaws), at: store)
        } catch {
            throw CommandFailure.tool("\(error)")
        }
        let trace = directory.appendingPathComponent("\(name).json").path
        let shown = directory.appendingPathComponent("\(name).txt").path
        let memory = directory.appendingPathComponent("\(name)-memory.txt").path
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let command = [
            program, "workload", "groceries", "--store", store.path, "--items", String(items), "--rows", String(rows),
            "--flaws", flaws.isEmpty ? "none" : "all", "--memory", memory,
        ]
        let recording = try Recording.run(command, output: trace, standardOutput: shown)
        guard recording.ending == .exited(0) else {
            throw CommandFailure.tool("The demo's app did not end well (\(recording.ending)).")
        }
        if let complaint = recording.complaint { throw CommandFailure.tool(complaint) }
        let report = try TraceReport(path: trace)
        let heading = "The shopping list \(title): \(items) items, \(rows) rows on a screen"
        try Terminal.output.write("\n\(heading)\n\(String(repeating: "=", count: heading.count))\n\n")
        try Terminal.output.write(report.text(on: .output) + "\n")
        let output = (try? String(contentsOfFile: shown, encoding: .utf8)) ?? ""
        let peakMemory = (try? String(contentsOfFile: memory, encoding: .utf8)).flatMap { UInt64($0) } ?? 0
        return DemoRun(report: report, output: output, peakMemory: peakMemory)
    }
}

/// One recorded run of the demo's app.
struct DemoRun {
    var report: TraceReport
    /// What the app printed.
    var output: String
    /// The most memory that it had in use, in bytes.
    var peakMemory: UInt64
}
