import Foundation

/// Runs the commands that were built beside this one.
struct Machine {
    /// A directory for stores and traces.
    let scratch: URL
    private let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent()

    init() throws {
        scratch = FileManager.default.temporaryDirectory.appendingPathComponent("DiffTruth.\(getpid())")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    }

    /// How many programs wanted a core in the last minute, for each core there is.
    static var load: Double {
        let average = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first
        return (average.flatMap { Double($0) } ?? 0) / Double(ProcessInfo.processInfo.activeProcessorCount)
    }

    func path(_ name: String) -> String { scratch.appendingPathComponent(name).path }

    func removeScratch() throws { try FileManager.default.removeItem(at: scratch) }

    /// Runs a command whose first word is a product, and returns what it printed.
    @discardableResult
    func run(_ command: [String], store: String = "") throws -> Data {
        let words = command.map { $0 == "STORE" ? store : $0 }
        let process = process(words)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: words, status: process.terminationStatus) }
        return printed
    }

    /// Runs `body` while every core of the machine is busy with something else.
    func whileBusy<Result>(_ body: () throws -> Result) throws -> Result {
        let spinners = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in process(["DiffTruth", "spin"]) }
        defer {
            for spinner in spinners {
                spinner.terminate()
                spinner.waitUntilExit()
            }
        }
        for spinner in spinners { try spinner.run() }
        return try body()
    }

    private func process(_ words: [String]) -> Process {
        let process = Process()
        process.executableURL = products.appendingPathComponent(words[0])
        process.arguments = words.dropFirst().map {
            products.appendingPathComponent($0).isExecutable ? products.appendingPathComponent($0).path : $0
        }
        process.standardOutput = FileHandle.nullDevice
        return process
    }

    /// A command that failed.
    struct Failure: Error, CustomStringConvertible {
        var command: [String]
        var status: Int32
        var description: String { "'\(command.joined(separator: " "))' ended with status \(status)." }
    }
}

extension URL {
    fileprivate var isExecutable: Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
