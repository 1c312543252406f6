import ArgumentParser
import FaultlineWorkloads
import Foundation

/// Runs a sample app: what `faultline demo` records.
///
/// Not shown in the help, since it says nothing by itself.
struct WorkloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workload", abstract: "Runs a sample app, for recording.", shouldDisplay: false,
        subcommands: [Groceries.self])

    /// A shopping list with flaws that are switches.
    struct Groceries: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "groceries",
            abstract: "Scrolls through a shopping list.",
            discussion: """
                faultline workload groceries --store /tmp/list.sqlite --flaws photo --prepare
                faultline record -- faultline workload groceries --store /tmp/list.sqlite --flaws photo
                """)

        @Option(name: .long, help: "The store.")
        var store: String

        @Option(name: .long, help: "How many items there are.")
        var items = 1000

        @Option(name: .long, help: "How many rows a screen shows.")
        var rows = 10

        @Option(name: .long, help: "Flaws: batch, photo, location, separated by commas; all; none.")
        var flaws: FlawList = FlawList(flaws: [])

        @Flag(name: .long, help: "Make the store, and do nothing else.")
        var prepare = false

        @Flag(name: .long, help: "Scroll through the list again and again, until killed.")
        var `repeat` = false

        @Option(name: .long, help: "A file for the most memory that was in use, in bytes.")
        var memory: String?

        func validate() throws {
            guard items > 0, rows > 0 else {
                throw ValidationError("--items and --rows are numbers from 1 on.")
            }
        }

        func run() throws {
            let form = GroceriesForm(items: items, visibleRows: rows, flaws: flaws.flaws)
            let url = URL(fileURLWithPath: store)
            do {
                if prepare {
                    try FaultlineWorkloads.Groceries.prepare(form, at: url)
                } else {
                    let groceries = try FaultlineWorkloads.Groceries(form, at: url)
                    repeat {
                        let outcome = try groceries.run()
                        try Terminal.output.write(
                            "\(outcome.screens) screens, \(outcome.rows) rows, \(outcome.views) views, "
                                + "checksum \(outcome.checksum)\n")
                    } while self.repeat
                    if let memory {
                        try String(Self.peakMemory()).write(toFile: memory, atomically: true, encoding: .utf8)
                    }
                }
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
}

/// Flaws as the command line names them.
struct FlawList: ExpressibleByArgument {
    var flaws: GroceriesFlaws

    init(flaws: GroceriesFlaws) {
        self.flaws = flaws
    }

    init?(argument: String) {
        flaws = []
        switch argument {
        case "none": return
        case "all": flaws = .all
        default:
            for word in argument.split(separator: ",") {
                guard let named = GroceriesFlaws.named.first(where: { $0.name == word }) else { return nil }
                flaws.insert(named.flaw)
            }
        }
    }

    var defaultValueDescription: String { "none" }
}
