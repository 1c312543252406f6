import ArgumentParser
import FaultlineProfile
import FaultlineRules
import FaultlineTrace

/// The options that define what counts as many or slow, and which code is the program's own.
struct AnalysisOptions: ParsableArguments {
    @Option(
        name: .customLong("thresholds"),
        help:
            "A JSON file that overrides thresholds of rules: {\"R01\": {\"minimumShare\": \"50 %\"}, \"significance\": {\"time\": \"5 ms\"}}; \"faultline explain R01\" lists those of R01, and \"faultline explain\" those of significance.",
        completion: .file())
    var thresholds: String?

    @Option(
        name: .customLong("library"),
        help: ArgumentHelp(
            "A file or directory of the program that counts as a library, so that the lines of its callers are reported. "
                + "Can be given several times.", valueName: "path"), completion: .file())
    var libraries: [String] = []

    func validate() throws {
        if libraries.contains(where: { $0.allSatisfy { $0 == "/" } }) {
            throw ValidationError("--library takes a file or a directory of the program, such as src/db.")
        }
    }

    /// The options as words of a command line.
    var words: [String] {
        (thresholds.map { ["--thresholds", $0] } ?? []) + libraries.flatMap { ["--library", $0] }
    }

    /// Runs `body` with the options in force, after printing which thresholds the file sets.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be used, or the error of `body`.
    func apply<Result>(_ body: () throws -> Result) throws -> Result {
        try LibraryPaths.$added.withValue(libraries) { try applyThresholds(body) }
    }

    private func applyThresholds<Result>(_ body: () throws -> Result) throws -> Result {
        guard let path = thresholds else { return try body() }
        let data = try InputFile.read(path, as: "thresholds file")
        let thresholds: Thresholds
        do {
            thresholds = try Thresholds(json: data)
        } catch {
            throw CommandFailure.usage(
                "The thresholds file \"\(path)\" \(error.reason); \"faultline explain\" lists the thresholds of "
                    + "\"significance\", and with a rule's number those of the rule."
            )
        }
        return try thresholds.apply {
            let set = Thresholds.all.filter { $0.value != $0.standard }.map { "\($0.rule) \($0.name) \($0.text)" }
            if !set.isEmpty { Terminal.tell("Thresholds set: \(set.joined(separator: ", ")).") }
            return try body()
        }
    }
}

/// A subcommand that reads and analyzes traces.
protocol AnalyzingCommand: ParsableCommand {
    var options: AnalysisOptions { get }

    /// Runs the subcommand.
    func work() throws
}

extension AnalyzingCommand {
    func run() throws { try options.apply(work) }
}
