import Foundation
import TestFolders
import Testing

/// A Python interpreter on this machine.
struct Python: CustomTestStringConvertible {
    var path: String
    var minor: Int

    var testDescription: String { "3.\(minor)" }

    /// The system's interpreter, and those of pyenv.
    static let all: [Python] = {
        let versions = NSHomeDirectory() + "/.pyenv/versions"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
        let paths = ["/usr/bin/python3"] + names.filter { $0.hasPrefix("3.") }.map { "\(versions)/\($0)/bin/python3" }
        return paths.sorted().compactMap { path in
            let words = ["-c", "import sys, sqlite3; print(sys.version_info.minor)"]
            guard let result = try? BuiltCommand.run(words, program: path), result.status == 0,
                let minor = Int(result.output.trimmingCharacters(in: .newlines))
            else { return nil }
            return Python(path: path, minor: minor)
        }
    }()

    static let known = all.filter { (8...14).contains($0.minor) }
    static let tooOld = all.filter { $0.minor < 8 }
    /// The versions whose calls of functions are recorded, so that loops and requests are exact.
    static let numberingCalls = known.filter { (11...13).contains($0.minor) }

    /// Runs a script with the preloaded library.
    func run(_ script: String, in directory: TemporaryDirectory, named name: String = "app.py") throws -> ObservedRun {
        let file = directory.path(name)
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let run = try ObservedRun([file], program: path)
        try #require(run.result.status == 0, "\(run.result.errors)")
        return run
    }

    /// Records a script with the command.
    ///
    /// - Returns: The path of the trace.
    func record(_ script: String, in directory: TemporaryDirectory) throws -> String {
        try Self.record(script, with: path, in: directory)
    }

    /// Records a script with the command and an interpreter.
    ///
    /// - Returns: The path of the trace.
    static func record(
        _ script: String, with path: String, in directory: TemporaryDirectory, named name: String = "app.py"
    ) throws -> String {
        let (file, trace) = (directory.path(name), directory.path("trace.json"))
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let run = try BuiltCommand.run(["record", "--quiet", "-o", trace, "--", path, file])
        try #require(run.status == 0, "\(run.errors)")
        return trace
    }
}
