import ArgumentParser
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation

/// Fails if a trace exceeds its budget.
struct CheckCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(BudgetCheck.self)
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Fails if a trace exceeds its budget, or has findings that are not suppressed.",
        discussion: """
            faultline check trace.json --budget budget.json --baseline main.profile

            A budget is a JSON file. It needs only the keys that you want to set:

            {
              "total": {"trips": 120, "storeTime": "40 ms"},
              "scopes": {"list": {"trips": 3, "rows": 200, "time": "16 ms"}},
              "findings": {
                "fail": "warning",
                "ignore": [
                  {
                    "finding": "R01|…",
                    "reason": "opened once a year",
                    "expires": "2027-06-30"
                  }
                ]
              }
            }

            "total" limits the whole trace: \(Budget.totalMeasures.joined(separator: ", ")).

            "scopes" limits every run of the scopes with a name: \(Budget.scopeMeasures.joined(separator: ", ")). \
            The highest number of trips and rows counts, and the 95th percentile of the times.

            "fail" is the lowest severity that fails the check: note, warning (the default), error, or never. "ignore" \
            suppresses findings by the names that check prints below them; a finding keeps its name when other code \
            changes. Findings that the baseline has as well do not fail.

            A comment in the sources under --sources, on the line of a finding or on the line above, suppresses a rule \
            there. It begins with // in Swift and in C, C++ and Objective-C, and with # in Python:

            // faultline:ignore R02 until 2027-06-30: opened once a year

            Times differ from machine to machine, so limit counts where you can.

            Exit status: 0 passed, 1 failed, 2 usage or input error, 75 internal error.
            """)

    @Argument(help: "The trace or profile.", completion: .file())
    var trace: String

    @Option(name: .long, help: "A file with limits and suppressed findings.", completion: .file())
    var budget: String?

    @Option(name: .long, help: "A trace or profile whose findings are known.", completion: .file())
    var baseline: String?

    @Option(
        name: .long,
        help: "A folder with sources, whose comments can suppress findings, and whose paths sarif and github print.",
        completion: .directory)
    var sources: String?

    @OptionGroup var database: DatabaseOption

    @Option(name: .long, help: ArgumentHelp(OutputFormat<CheckCommand>.help))
    var format = OutputFormat<CheckCommand>.text

    @OptionGroup var file: PrintedFile

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let output = try outputFile(
            CommandInputs([trace, budget, baseline, database.store, options.thresholds], sources: sources))
        var limits = try budget.map(Self.read) ?? Budget()
        let folder = try sources.map(SourceFolder.init)
        if let folder { limits.accepted += try Self.accepted(in: folder) }
        let analysis = try analyze(trace)
        let check = BudgetCheck(
            analysis, budget: limits, baseline: try baseline.map(analyze), today: Self.today)
        let next = NextStep.Input(file: trace, options.words).flatMap { trace in
            NextStep.after(check, of: analysis, trace, baseline: baseline.flatMap { .init(file: $0) })
        }
        try write(check, to: output, next: next, paths: folder?.repositoryPaths)
        if !check.isPassed { throw ExitCode(1) }
    }

    private func analyze(_ path: String) throws -> Analysis {
        try Analysis(asking: database.store, about: LoadedProfile.oneOfSeveral(path))
    }

    private static func read(_ path: String) throws -> Budget {
        let data = try InputFile.read(path, as: "budget")
        do {
            return try Budget(json: data)
        } catch {
            throw CommandFailure.usage(
                "The budget \"\(path)\" \(error.reason); \"faultline help check\" shows the format.")
        }
    }

    private static func accepted(in folder: SourceFolder) throws -> [Acceptance] {
        let root = URL(fileURLWithPath: folder.path).standardizedFileURL.path
        var accepted: [Acceptance] = []
        for path in folder.files where Acceptance.canBeIn(file: path) {
            // A file that cannot be read suppresses nothing, so its findings fail.
            guard let bytes = try? RegularFile.bytes(of: folder.path + "/" + path, atMost: InputFile.most),
                let text = String(validating: bytes, as: UTF8.self)
            else { continue }
            do {
                accepted += try Acceptance.inComments(of: text, file: root + "/" + path)
            } catch {
                throw CommandFailure.usage(
                    "The comment in \(path):\(error.site.line) suppresses nothing; write \"faultline:ignore R02: "
                        + "why\", or \"faultline:ignore R02, R03 until 2027-06-30: why\".")
            }
        }
        return accepted
    }

    /// The current local date, as `2026-11-22`.
    private static var today: String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: Date())
        return String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
    }
}
