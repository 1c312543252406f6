public import Foundation

/// Programs that lie beside this one.
public enum Command {
    /// This program.
    public static let own =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]

    /// The path of a program.
    public static func path(_ name: String) -> String {
        URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Runs a program and waits for it.
    ///
    /// - Returns: The output.
    /// - Throws: ``CommandFailed`` if it cannot be started or does not end with 0.
    @discardableResult
    public static func run(_ program: String, _ arguments: [String]) throws -> Data {
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

/// A command that did not do its work.
public struct CommandFailed: Error, CustomStringConvertible {
    /// The failure, in a sentence.
    public let description: String

    /// Creates one from a sentence.
    public init(description: String) { self.description = description }
}
