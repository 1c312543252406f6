import Foundation

/// Programs that lie beside this one.
enum Command {
    /// This program.
    static let own =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]

    static func path(_ name: String) -> String {
        URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Runs a program and waits for it.
    ///
    /// - Returns: What it printed.
    /// - Throws: ``CommandFailed`` if it cannot be started or does not end with 0.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> Data {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailed(
                description: "\(program) \(arguments.joined(separator: " ")): ended with \(process.terminationStatus).")
        }
        return data
    }
}

struct CommandFailed: Error, CustomStringConvertible {
    var description: String
}

/// A folder that is gone when it is no longer needed.
final class ScratchFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("truth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
