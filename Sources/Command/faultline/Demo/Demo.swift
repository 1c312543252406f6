import FaultlineFindings
import FaultlineRecorder
import FaultlineReport
import FaultlineTrace
import FaultlineWorkloads
import Foundation

/// A sample app that the demo records in two forms: with its flaws and without.
protocol DemoApp {
    /// The title in headings, such as `"The shopping list"`.
    var title: String { get }
    /// The number of flaws in words, such as `"three flaws"`.
    var flawsInWords: String { get }
    /// The flaws, as a list that ends with a full stop.
    static var flaws: String { get }
    /// The size in words, such as `"2000 items, 10 rows on a screen"`.
    var size: String { get }
    /// The command that runs a form, and writes the app's peak memory in bytes to a file.
    func command(isFlawed: Bool, store: URL, memory: String) throws -> [String]

    /// Creates the store of a form, and replaces any existing one.
    func prepare(isFlawed: Bool, at store: URL) throws
}

/// A sample app that `faultline workload` runs.
protocol DemoWorkload: DemoApp {
    /// The arguments of `faultline workload`, without those for the app's store and its flaws.
    var workload: [String] { get }
}

extension DemoWorkload {
    func command(isFlawed: Bool, store: URL, memory: String) throws -> [String] {
        let program = try FileManager.default.pathOfThisProgram()
        return [program, "workload"] + workload + [
            "--store", store.path, "--flaws", isFlawed ? "all" : "none", "--memory", memory,
        ]
    }
}

/// Records both forms of a sample app, and prints both reports and the difference.
struct Demo {
    private let app: any DemoApp
    private let options: DemoOptions

    init(_ app: any DemoApp, _ options: DemoOptions) {
        (self.app, self.options) = (app, options)
    }

    func run() throws {
        try inDirectory { directory in
            let before = try record(isFlawed: true, in: directory)
            let after = try record(isFlawed: false, in: directory)
            guard before.output == after.output else {
                throw CommandFailure.tool(
                    "The flawed and the repaired demo printed different output; please report "
                        + "this.")
            }
            try Terminal.output.write(DemoComparison(before: before, after: after).text())
            try Terminal.output.write(
                "\n\(options.hint)\n\"faultline explain R02\" describes a rule that the reports name.\n")
        }
    }

    /// Runs `work` in the requested directory, or in a temporary one that is removed afterward.
    ///
    /// - Throws: ``CommandFailure`` if the directory cannot be created, or holds files that no demo has written.
    func inDirectory(_ work: (URL) throws -> Void) throws { try Self.inDirectory(options, work) }

    static func inDirectory(_ options: DemoOptions, _ work: (URL) throws -> Void) throws {
        if let output = options.output { return try work(try DemoDirectory.prepare(output)) }
        try inTemporaryDirectory(orElse: "Name one with -o, or set TMPDIR.", work)
    }

    /// Runs `work` in a temporary directory that is removed afterward.
    ///
    /// - Parameter advice: The remedy if the directory cannot be created.
    static func inTemporaryDirectory(orElse advice: String, _ work: (URL) throws -> Void) throws {
        guard let directory = OwnedDirectory.make(in: NSTemporaryDirectory(), purpose: .demo, content: "") else {
            throw CommandFailure.tool(
                "Cannot make a directory in \"\(NSTemporaryDirectory())\": \(String(cString: strerror(errno))). \(advice)"
            )
        }
        defer { directory.remove() }
        try work(URL(fileURLWithPath: directory.path))
    }

    private static func wrapped(_ text: String) -> String {
        Phrase.wrapped(text, width: 100).map { $0 + "\n" }.joined()
    }

    /// A section of a demo's output.
    static func titled(_ title: String, _ text: String) -> String {
        "\n\(title)\n\(String(repeating: "=", count: title.count))\n\n\(text)\n"
    }

    func heading(isFlawed: Bool) -> String {
        "\(app.title) \(isFlawed ? "with \(app.flawsInWords)" : "without flaws"): \(app.size)"
    }

    /// Creates the store of a form in a directory.
    func prepare(isFlawed: Bool, in directory: URL) throws -> URL {
        let store = directory.appendingPathComponent("\(Self.name(isFlawed)).sqlite")
        do {
            try app.prepare(isFlawed: isFlawed, at: store)
        } catch let error as ChinookError {
            throw CommandFailure.usage(error.message)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure.tool("\(error)")
        }
        return store
    }

    private static func name(_ isFlawed: Bool) -> String { isFlawed ? "flawed" : "improved" }

    private func record(isFlawed: Bool, in directory: URL) throws -> DemoRun {
        let store = try prepare(isFlawed: isFlawed, in: directory)
        if isFlawed { try Terminal.output.write(Self.wrapped("The flaws: \(type(of: app).flaws)")) }
        let name = Self.name(isFlawed)
        let run = try DemoRun.record(
            { try app.command(isFlawed: isFlawed, store: store, memory: $0) }, named: name, in: directory)
        let heading = heading(isFlawed: isFlawed)
        try Terminal.output.write(Self.titled(heading, run.report.text(on: .output)))
        return run
    }
}

/// One recorded run of a demo's app.
struct DemoRun {
    var report: TraceReport
    /// The output of the app.
    var output: String
    /// The app's peak memory, in bytes.
    var peakMemory: UInt64

    /// Records an app.
    ///
    /// - Parameters:
    ///   - command: Returns the command, which writes the app's peak memory in bytes to a file.
    ///   - name: The beginning of the names of the files that are written.
    static func record(
        _ command: (_ memory: String) throws -> [String], named name: String, in directory: URL
    ) throws -> DemoRun {
        let trace = directory.appendingPathComponent("\(name).json").path
        let shown = directory.appendingPathComponent("\(name).txt").path
        let memory = directory.appendingPathComponent("\(name)-memory.txt").path
        let recording = try Recording.run(try command(memory), output: trace, standardOutput: shown)
        guard recording.ending == .exited(0) else {
            throw CommandFailure.tool("The demo's app failed (\(recording.ending)).")
        }
        if let note = recording.outcome.notes.first { throw CommandFailure.tool(note) }
        let output = (try? String(contentsOfFile: shown, encoding: .utf8)) ?? ""
        let peakMemory = (try? String(contentsOfFile: memory, encoding: .utf8)).flatMap { UInt64($0) } ?? 0
        return DemoRun(report: try TraceReport(path: trace), output: output, peakMemory: peakMemory)
    }
}
