import ArgumentParser
import FaultlineReport

/// Prints the report of a trace.
struct ReportCommand: AnalyzingCommand, PrintingCommand {
    static let document = Document.report
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Prints the report of a trace.",
        discussion: "A trace whose program was killed is first completed from what the program left in shared memory.")

    @Argument(
        help: "A trace that \"faultline record\" or FAULTLINE_TRACE=timeline:PATH wrote, or a profile of traces.")
    var trace: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ReportCommand>.help))
    var format = OutputFormat<ReportCommand>.text

    @Flag(name: .long, help: "Show every finding in full, and every hotspot.")
    var all = false

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let report = try TraceReport(path: trace)
        for note in report.notes { Terminal.tell(note) }
        try format.write(report.analysis, showsAll: all) { $0.report }
    }
}
