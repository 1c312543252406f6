import ArgumentParser

/// How a subcommand prints what it found.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

/// Prints the report of a trace.
struct ReportCommand: JudgingCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Prints the report of a trace.",
        discussion: "A trace whose program was killed is first completed from what the program left in shared memory.")

    @Argument(
        help: "A trace that \"faultline record\" or FAULTLINE_TRACE=timeline:PATH wrote, or a profile of traces.")
    var trace: String

    @Option(name: .long, help: "text, or json for programs.")
    var format = OutputFormat.text

    @Flag(name: .long, help: "Show every finding in full, and every hotspot.")
    var all = false

    @OptionGroup var thresholds: ThresholdOptions

    func work() throws {
        let report = try TraceReport(path: trace)
        for note in report.notes { Terminal.tell(note) }
        switch format {
        case .text: try Terminal.output.write(report.text(on: .output, showsAll: all))
        case .json: try Terminal.output.write(report.json())
        }
    }
}
