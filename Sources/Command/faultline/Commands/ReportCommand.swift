import ArgumentParser
import FaultlineProfile
import FaultlineReport
import FaultlineRules

/// Prints the report of a trace.
struct ReportCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(Analysis.self)
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Prints the report of a trace.",
        discussion: """
            faultline report
            faultline report trace.json
            faultline report trace.json -o report.html
            faultline report trace.json -o report.html --verification verification.json

            A trace whose program was killed is first completed from what the program left in shared memory.
            """)

    @Argument(
        help: """
            A trace that "faultline record" or FAULTLINE_TRACE=timeline:PATH wrote, or a profile of traces. Default: the last \
            recording, faultline.json or faultline-lttng in the current directory.
            """,
        completion: .file())
    var trace: String?

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ReportCommand>.help))
    var format = OutputFormat<ReportCommand>.text

    @Flag(name: .long, help: "Show every finding in full, and every hotspot.")
    var all = false

    @Option(name: .long, help: "Group the hotspots by \(Grouping.names).")
    var by: Grouping?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The output of \"faultline verify --format json\" for the trace. The page shows the measured savings.",
            valueName: "file"), completion: .file())
    var verification: String?

    @OptionGroup var database: DatabaseOption

    @OptionGroup(title: "Page") var page: PageOutput
    var file: PrintedFile { page.file }

    @OptionGroup var options: AnalysisOptions

    struct Grouping: ExpressibleByArgument {
        let grouping: GroupedHotspots.Grouping

        init?(argument: String) {
            guard let grouping = GroupedHotspots.Grouping(rawValue: argument) else { return nil }
            self.grouping = grouping
        }

        static let allValueStrings = GroupedHotspots.Grouping.allCases.map(\.rawValue)
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
        static let names = allValueStrings.joined(separator: ", ")
    }

    func work() throws {
        let trace = trace ?? RecordingDestination.lastOutput
        let output = try page.check(for: self, inputs: [trace, database.store, verification, options.thresholds])
        guard verification == nil || renderer.page != nil else {
            throw ValidationError("--verification is for a page, as in -o report.html.")
        }
        let savings = try measuredSavings()
        // A page looks for its sources itself.
        let folder = renderer.page == nil ? try page.sources.map(SourceFolder.init) : nil
        let isByThread = by?.grouping == .thread
        if isByThread, LoadedProfile.isProfile(trace) {
            throw CommandFailure.usage(
                "\"\(trace)\" is a profile, which has no sums of threads; name the trace that it was made from, or group "
                    + "by entity, scope or site.")
        }
        var threads = ThreadSums()
        let report = try TraceReport(path: trace, store: database.store) { if isByThread { threads.add($0) } }
        for note in report.notes { Terminal.tell(note) }
        if let output, renderer.page != nil {
            if let verification, savings.count(in: report.analysis) == 0 {
                Terminal.tell("\"\(verification)\" has no result for a finding of this trace.")
            }
            let events = try page.events(of: trace, report.analysis)
            return try output.write(.report(events, savings), by: renderer, page.options)
        }
        let grouped = by.map { GroupedHotspots(report.analysis.profile, by: $0.grouping, threads: threads) }
        try write(
            report.analysis, to: output, showsAll: all, grouped: grouped, next: report.nextStep(options),
            paths: folder?.repositoryPaths)
    }

    /// The measurements in the file of `--verification`.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read, or is something else.
    private func measuredSavings() throws -> MeasuredSavings {
        guard let verification else { return MeasuredSavings() }
        do {
            return try MeasuredSavings(json: try InputFile.read(verification, as: "verification"))
        } catch let problem as MeasuredSavings.Problem {
            throw CommandFailure.usage(
                "The verification \"\(verification)\" \(problem.reason); make it with \"faultline verify --format json\"."
            )
        }
    }
}
