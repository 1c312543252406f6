import Foundation

/// A program of the system that is run for what it does and says.
struct Tool {
    /// What a run came to.
    struct Outcome {
        var status: Int32
        /// The last line that it printed, on either of its outputs.
        var lastLine: String
    }

    let path: String

    /// Finds a program in `PATH`; `nil` if it is not there.
    init?(_ name: String) {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = directories.map { "\($0)/\(name)" }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            return nil
        }
        path = found
    }

    /// Runs it to its end, with nothing to read.
    ///
    /// Its output goes to a file: a pipe would be held open by a daemon that it starts.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be run.
    func run(_ arguments: [String]) throws -> Outcome {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: scratch.path, contents: nil),
            let output = FileHandle(forWritingAtPath: scratch.path)
        else { throw CommandFailure.tool("Could not write to \"\(scratch.path)\"; free some space there.") }
        defer { try? FileManager.default.removeItem(at: scratch) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw CommandFailure.tool("Could not run \"\(path)\": \(error.localizedDescription)")
        }
        process.waitUntilExit()
        let text = (try? String(contentsOf: scratch, encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
        return Outcome(status: process.terminationStatus, lastLine: lines.last.map(String.init) ?? "")
    }
}
