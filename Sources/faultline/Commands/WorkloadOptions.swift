import ArgumentParser
import FaultlineWorkloads
import Foundation

/// The options that all sample apps share.
struct WorkloadOptions: ParsableArguments {
    @Option(name: .long, help: "The store.")
    var store: String

    @Flag(name: .long, help: "Create the store, and do nothing else.")
    var prepare = false

    @Flag(name: .long, help: "Repeat until killed.")
    var `repeat` = false

    @Option(name: .long, help: "A file for the peak memory, in bytes.")
    var memory: String?

    /// Creates the app's store, or opens the app on it and runs it.
    ///
    /// - Parameter open: Opens the app, and returns a function that runs it once and returns what it showed.
    func run(prepare: (URL) throws -> Void, open: (URL) throws -> () throws -> String) throws {
        let url = URL(fileURLWithPath: store)
        do {
            guard !self.prepare else { return try prepare(url) }
            let run = try open(url)
            repeat { try Terminal.output.write(run() + "\n") } while self.repeat
            if let memory {
                try String(Self.peakMemory()).write(toFile: memory, atomically: true, encoding: .utf8)
            }
        } catch let error as ChinookError {
            throw CommandFailure.usage(error.message)
        } catch {
            throw CommandFailure.tool("\(error)")
        }
    }

    /// The peak memory of this program, in bytes.
    ///
    /// The program itself asks the kernel. The figure that a parent gets for its child includes the parent's own memory
    /// from before the child's program was loaded.
    private static func peakMemory() -> UInt64 {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0) * 1024
    }
}

/// A list of flaws on the command line.
struct FlawList<Flaws: FlawSet>: ExpressibleByArgument {
    var flaws: Flaws = []

    init() {}

    init?(argument: String) {
        switch argument {
        case "none": return
        case "all": flaws = .all
        default:
            for word in argument.split(separator: ",") {
                guard let named = Flaws.named.first(where: { $0.name == word }) else { return nil }
                flaws.formUnion(named.flaw)
            }
        }
    }

    static var help: ArgumentHelp {
        "Flaws: \(Flaws.named.map(\.name).joined(separator: ", ")), separated by commas; all; none."
    }

    var defaultValueDescription: String { "none" }
}
