import ArgumentParser
import FaultlineAnalysis

/// The option for a thresholds file.
struct ThresholdOptions: ParsableArguments {
    @Option(
        name: .customLong("thresholds"),
        help:
            "A JSON file that overrides thresholds of rules: {\"R01\": {\"minimumShare\": \"50 %\"}, \"significance\": {\"time\": \"5 ms\"}}; \"faultline explain R01\" lists those of R01, and \"faultline explain\" those of significance."
    )
    var path: String?

    /// Runs `body` with the file's thresholds in force, after printing which ones it sets.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be used, or the error of `body`.
    func apply<Result>(_ body: () throws -> Result) throws -> Result {
        guard let path else { return try body() }
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

/// A subcommand that reads and analyses with thresholds that a file can set.
protocol AnalyzingCommand: ParsableCommand {
    var thresholds: ThresholdOptions { get }

    /// Runs the subcommand.
    func work() throws
}

extension AnalyzingCommand {
    func run() throws { try thresholds.apply(work) }
}
