import ArgumentParser
import FaultlineWorkloads
import Foundation

/// What every sample app can be asked for.
struct WorkloadOptions: ParsableArguments {
    @Option(name: .long, help: "The store.")
    var store: String

    @Flag(name: .long, help: "Make the store, and do nothing else.")
    var prepare = false

    @Flag(name: .long, help: "Do it again and again, until killed.")
    var `repeat` = false

    @Option(name: .long, help: "A file for the most memory that was in use, in bytes.")
    var memory: String?

    /// Makes the app's store, or opens the app on it and runs it.
    ///
    /// - Parameter open: Opens the app and gives what runs it once and says what it showed.
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

    /// The most memory that this program had in use, in bytes.
    ///
    /// Asked of the kernel by the program itself: what a parent is told of its child counts in the parent's own, from
    /// before the child's program was loaded.
    private static func peakMemory() -> UInt64 {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0) * 1024
    }
}

/// Flaws as the command line names them.
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
