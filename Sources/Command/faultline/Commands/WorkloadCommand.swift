import ArgumentParser
import FaultlineWorkloads
import Foundation

/// Runs a sample app, which `faultline demo` records.
///
/// It is hidden from the help, because it is of no use on its own.
struct WorkloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workload", abstract: "Runs a sample app, for recording.", shouldDisplay: false,
        subcommands: [Groceries.self, Music.self, Weather.self])

    /// A shopping list with flaws that can be switched on.
    struct Groceries: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "groceries",
            abstract: "Scrolls through a shopping list.",
            discussion: """
                faultline workload groceries --store /tmp/list.sqlite --flaws photo --prepare
                faultline record -- faultline workload groceries --store /tmp/list.sqlite --flaws photo
                """)

        @OptionGroup
        var options: WorkloadOptions

        @Option(name: .long, help: "The number of items.")
        var items = 1000

        @Option(name: .long, help: "The number of rows on a screen.")
        var rows = 10

        @Option(name: .long, help: FlawList<GroceriesFlaws>.help)
        var flaws = FlawList<GroceriesFlaws>()

        func validate() throws {
            guard items > 0, rows > 0 else {
                throw ValidationError("--items and --rows must be at least 1.")
            }
        }

        func run() throws {
            let form = GroceriesForm(items: items, visibleRows: rows, flaws: flaws.flaws)
            try options.run { url in
                try FaultlineWorkloads.Groceries.prepare(form, at: url)
            } open: { url in
                let groceries = try FaultlineWorkloads.Groceries(form, at: url)
                return { "\(try groceries.run())" }
            }
        }
    }

    /// A music library with flaws that can be switched on.
    struct Music: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "music",
            abstract: "Walks through the screens of a music library.",
            discussion: """
                faultline workload music --store /tmp/music.sqlite --flaws search --database Chinook.sqlite --prepare
                faultline record -- faultline workload music --store /tmp/music.sqlite --flaws search
                """)

        @OptionGroup
        var options: WorkloadOptions

        @Option(name: .long, help: "The Chinook database, an SQLite file, for --prepare.")
        var database: String?

        @Option(name: .long, help: "The number of rows on a screen.")
        var rows = 20

        @Option(name: .long, help: FlawList<MusicLibraryFlaws>.help)
        var flaws = FlawList<MusicLibraryFlaws>()

        func validate() throws {
            guard rows > 0 else {
                throw ValidationError("--rows must be at least 1.")
            }
            guard database != nil || !options.prepare else {
                throw ValidationError("--prepare needs --database, from which it creates the store.")
            }
        }

        func run() throws {
            let form = MusicLibraryForm(visibleRows: rows, flaws: flaws.flaws)
            try options.run { url in
                try MusicLibrary.prepare(form, from: URL(fileURLWithPath: database ?? ""), at: url)
            } open: { url in
                let library = try MusicLibrary(form, at: url)
                return { "\(try library.run())" }
            }
        }
    }

    /// Weather stations whose store is migrated.
    struct Weather: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "weather",
            abstract: "Migrates a store of weather readings.",
            discussion: """
                faultline workload weather --store /tmp/weather.sqlite --prepare
                faultline record -- faultline workload weather --store /tmp/weather.sqlite --way policy
                """)

        @OptionGroup
        var options: WorkloadOptions

        @Option(name: .long, help: "The number of readings, for --prepare.")
        var readings = 105_120

        @Option(name: .long, help: "How to migrate.")
        var way = WeatherStation.Way.inferred

        func validate() throws {
            guard readings > 0 else { throw ValidationError("--readings must be at least 1.") }
        }

        func run() throws {
            try options.run { url in
                try WeatherStation.prepare(readings: readings, at: url)
            } open: { url in
                { try WeatherStation.migrate(way, at: url) }
            }
        }
    }
}

extension WeatherStation.Way: ExpressibleByArgument {}

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
