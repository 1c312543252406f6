import Foundation

/// Programs that are run to their end.
enum Child {
    enum Stream {
        case output, errors
    }

    /// Runs a program and returns what it printed.
    ///
    /// - Parameter environment: Variables besides those of this process.
    /// - Throws: ``ChildFailure`` if the program cannot be run, or fails.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], reads stream: Stream = .output
    ) throws -> String {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = arguments
        program.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        program.standardOutput = stream == .output ? pipe.fileHandleForWriting : FileHandle.nullDevice
        if stream == .errors { program.standardError = pipe.fileHandleForWriting }
        try program.run()
        try pipe.fileHandleForWriting.close()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        program.waitUntilExit()
        guard program.terminationStatus == 0 else { throw ChildFailure(command: arguments.joined(separator: " ")) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Runs a program to its end and returns its CPU time, in nanoseconds.
    static func time(_ arguments: [String]) throws -> Double {
        let before = timeOfChildren()
        _ = try run(arguments)
        return timeOfChildren() - before
    }

    /// Runs a program and returns the number of nanoseconds that it printed.
    static func printedTime(_ arguments: [String]) throws -> Double {
        let output = try run(arguments).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let time = Double(output) else {
            throw BudgetError("\"\(arguments.joined(separator: " "))\" printed no time, but: \(output)")
        }
        return time
    }

    private static func timeOfChildren() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) * 1e9 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3
    }
}

/// The failure of a program under measurement.
struct ChildFailure: Error, CustomStringConvertible {
    let command: String
    var description: String { "Could not measure \"\(command)\": it failed." }
}
