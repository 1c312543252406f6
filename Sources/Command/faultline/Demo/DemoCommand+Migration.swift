import ArgumentParser
import FaultlineFindings
import FaultlineReport
import FaultlineRules
import FaultlineWorkloads
import Foundation

extension DemoCommand {
    /// Weather stations whose store is migrated in three ways.
    struct Migration: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migration",
            abstract: "Records the migration of a store in three ways, and compares.",
            discussion: """
                A year of weather readings gets a newer version of its model: an attribute is renamed, one is added and one \
                removed, and there is another entity. The container infers the migration, a migration \
                manager runs a mapping model, and another mapping model has a policy in Swift. Everything is run and measured on this machine.
                """)

        @Option(name: .long, help: "The number of readings.")
        var readings = 105_120

        @OptionGroup
        var options: DemoOptions

        func validate() throws {
            guard readings > 0 else { throw ValidationError("--readings must be at least 1.") }
        }

        func run() throws {
            try Demo.inDirectory(options) { directory in
                let prepared = directory.appendingPathComponent("older.sqlite")
                do {
                    try WeatherStation.prepare(readings: readings, at: prepared)
                } catch {
                    throw CommandFailure.tool("\(error)")
                }
                let runs = try WeatherStation.Way.allCases.map { (way: $0, run: try record($0, prepared, directory)) }
                guard Set(runs.map(\.run.output)).count == 1 else {
                    throw CommandFailure.tool("The three ways gave different stores; please report this.")
                }
                try Terminal.output.write(comparison(runs))
                try Terminal.output.write("\n\(options.hint)\n\"faultline explain R32\" describes the rule.\n")
            }
        }

        private func record(_ way: WeatherStation.Way, _ prepared: URL, _ directory: URL) throws -> DemoRun {
            let store = directory.appendingPathComponent("\(way.rawValue).sqlite")
            try FileManager.default.copyItem(at: prepared, to: store)
            let program = try FileManager.default.pathOfThisProgram()
            let run = try DemoRun.record(
                { memory in
                    [
                        program, "workload", "weather", "--store", store.path, "--way", way.rawValue, "--memory",
                        memory,
                    ]
                }, named: way.rawValue, in: directory)
            let heading = "\(way.title): \(Phrase.count(UInt64(readings), "reading"))"
            try Terminal.output.write(Demo.titled(heading, run.report.migrations(on: .output)))
            return run
        }

        /// The three ways, side by side.
        private func comparison(_ runs: [(way: WeatherStation.Way, run: DemoRun)]) -> String {
            let title = "The same store, three ways"
            var table = TextTable([
                .init(title: "", alignment: .left), .init(title: "time", alignment: .right),
                .init(title: "readings a second", alignment: .right), .init(title: "", alignment: .right),
                .init(title: "peak memory", alignment: .right),
            ])
            let times = runs.map { Double($0.run.report.analysis.profile.migrationTime) }
            for (run, time) in zip(runs, times) {
                let factor = time / max(1, times[0])
                table.add([
                    run.way.title, Phrase.duration(time), Phrase.count(UInt64(Double(readings) / max(1, time) * 1e9)),
                    factor == 1 ? "" : "× " + Phrase.decimal(factor, places: 1),
                    Phrase.size(Double(run.run.peakMemory)),
                ])
            }
            let lines = table.lines(width: 90).map { "  " + $0 }.joined(separator: "\n")
            return Demo.titled(title, lines)
        }
    }
}

extension WeatherStation.Way {
    fileprivate var title: String {
        switch self {
        case .inferred: "inferred, by the container"
        case .mapping: "a mapping model, by a manager"
        case .policy: "a mapping model with a policy"
        }
    }
}
