import Foundation
import TruthKit

/// Runs the commands that were built beside this one.
struct Machine {
    /// For stores and traces.
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// How many programs wanted a core in the last minute, for each core there is.
    static var load: Double {
        let average = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first
        return (average.flatMap { Double($0) } ?? 0) / Double(ProcessInfo.processInfo.activeProcessorCount)
    }

    func path(_ name: String) -> String { scratch.path(name) }

    /// Runs a command whose first word is a product, and returns what it printed.
    ///
    /// Other words that are products become their paths, and `STORE` becomes the store's.
    @discardableResult
    func run(_ command: [String], store: String = "") throws -> Data {
        let words = command.map { word in
            let path = Command.path(word)
            return word == "STORE" ? store : Self.isProgram(path) ? path : word
        }
        return try Command.run(words[0], Array(words.dropFirst()))
    }

    /// Runs `body` while every core of the machine is busy with something else.
    func whileBusy<Result>(_ body: () throws -> Result) throws -> Result {
        let load = try Load()
        defer { load.stop() }
        return try body()
    }

    private static func isProgram(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
