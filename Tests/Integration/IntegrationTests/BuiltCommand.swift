import Foundation
import ProjectFiles
import TestFolders

/// Runs built programs as a user would.
struct BuiltCommand {
    /// The output of a program and how it ended.
    struct Result {
        var status: Int32
        /// Whether a signal ended the program; `status` is then the signal's number.
        var wasKilled: Bool
        var output: String
        var errors: String

        /// The output without the last line of a report, which names its file.
        var withoutNextStep: Substring {
            output.range(of: "\nNext, ", options: .backwards).map { output[..<$0.lowerBound] } ?? output[...]
        }

        /// The command in the last line of a report, or `nil` if there is none.
        var nextStep: String? {
            let last = output.split(separator: "\n").last.flatMap { $0.hasPrefix("Next, ") ? $0 : nil }
            return last?.range(of: ": faultline ").flatMap { range in last.map { String($0[range.upperBound...]) } }
        }
    }

    /// The `faultline` command, as a user has it.
    static let faultline = products.appendingPathComponent("faultline").path

    /// The directory that contains the command, its libraries and the generators.
    static let products = package.appendingPathComponent(".build/release")

    /// The directory of the programs that tests record, and of the modules that their samples import.
    static let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

    /// The project's folder.
    static let package = ProjectFolder.url

    /// Runs a program to its end, in the project's folder unless another is given.
    static func run(
        _ arguments: [String], program: String = faultline, environment: [String: String] = [:], directory: URL? = nil
    ) throws -> Result {
        try RunningCommand(program, arguments, environment: environment, directory: directory).finish()
    }
}

/// A running program whose output goes to files, because a pipe without a reader would block it.
final class RunningCommand {
    private let process = Process()
    private let outputFile: URL
    private let errorsFile: URL

    var identifier: pid_t { process.processIdentifier }

    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], directory: URL? = nil
    ) throws {
        let scratch = try TemporaryDirectory().url
        outputFile = scratch.appendingPathComponent("output")
        errorsFile = scratch.appendingPathComponent("errors")
        for file in [outputFile, errorsFile] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        process.environment = variables
        process.currentDirectoryURL = directory ?? ProjectFolder.url
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorsFile)
        // A test runs on a thread that blocks most signals, which a program would inherit.
        var signals = sigset_t()
        sigfillset(&signals)
        var before = sigset_t()
        pthread_sigmask(SIG_UNBLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// The output so far.
    var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }

    /// The errors so far.
    private var errors: String { (try? String(contentsOf: errorsFile, encoding: .utf8)) ?? "" }

    /// Waits until the errors contain a text, or the program has ended.
    func waitForErrors(_ text: String) {
        while process.isRunning, !errors.contains(text) { sched_yield() }
    }

    /// Waits until the program ends.
    func finish() -> BuiltCommand.Result {
        process.waitUntilExit()
        return BuiltCommand.Result(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            output: output, errors: errors)
    }
}

/// A new directory that is removed with the test process.
struct TemporaryDirectory {
    let url: URL

    init() throws { url = try TestFolder.make() }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }
}
