import ArgumentParser
import FaultlineAnalysis
import FaultlineReport
import Foundation

/// Prints the report of a trace.
struct ReportCommand: AnalyzingCommand, PrintingCommand {
    static let document = Document.report
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Prints the report of a trace.",
        discussion: """
            faultline report trace.json
            faultline report trace.json --format html -o report.html

            A trace whose program was killed is first completed from what the program left in shared memory.
            """)

    @Argument(
        help: "A trace that \"faultline record\" or FAULTLINE_TRACE=timeline:PATH wrote, or a profile of traces.")
    var trace: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ReportCommand>.help))
    var format = OutputFormat<ReportCommand>.text

    @Option(name: .shortAndLong, help: "Write the page to this file. An earlier page is replaced.")
    var output: String?

    @Flag(name: .long, help: "Replace any file.")
    var force = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder in which the page's source is looked for, if it is not where the program was built.",
            valueName: "folder"))
    var source = "."

    @Flag(name: .long, help: "Leave the program's source out of the page.")
    var noSource = false

    @Option(
        name: .long,
        help:
            "The number of events that the page shows. Of a trace with more, it shows the longest, and sums the others."
    )
    var maxEvents = PageEvents.standardLimit

    @Flag(name: .long, help: "Show every finding in full, and every hotspot.")
    var all = false

    @Option(name: .long, help: "Group the hotspots by \(Grouping.names).")
    var by: Grouping?

    @OptionGroup var options: AnalysisOptions

    struct Grouping: ExpressibleByArgument {
        let grouping: GroupedHotspots.Grouping

        init?(argument: String) {
            guard let grouping = GroupedHotspots.Grouping(rawValue: argument) else { return nil }
            self.grouping = grouping
        }

        static let allValueStrings = GroupedHotspots.Grouping.allCases.map(\.rawValue)
        static let names = allValueStrings.joined(separator: ", ")
    }

    func validate() throws {
        try checkFormat()
        guard (1...10_000_000).contains(maxEvents) else {
            throw ValidationError("--max-events must be between 1 and 10,000,000, not \(maxEvents).")
        }
        if (format.renderer.page == nil) != (output == nil) {
            throw ValidationError(
                output == nil
                    ? "A page is written to a file: name it with -o report.html."
                    : "-o is for --format html; other formats are printed, and > writes them to a file.")
        }
    }

    func work() throws {
        if let print = format.renderer.page, let output { return try writePage(print, to: output) }
        let isByThread = by?.grouping == .thread
        if isByThread, LoadedProfile.isProfile(trace) {
            throw CommandFailure.usage(
                "\"\(trace)\" is a profile, which has no sums of threads; name the trace that it was made from, or group "
                    + "by entity, scope or site.")
        }
        var threads = ThreadSums()
        let report = try TraceReport(path: trace) { if isByThread { threads.add($0) } }
        for note in report.notes { Terminal.tell(note) }
        let grouped = by.map { GroupedHotspots(report.analysis.profile, by: $0.grouping, threads: threads) }
        try format.write(report.analysis, showsAll: all, grouped: grouped) { $0.report }
    }

    private func writePage(_ print: Renderer.PagePrinter, to output: String) throws {
        try OutputFile.check(output, replacing: .page, isForced: force)
        let report = try TraceReport(path: trace)
        for note in report.notes { Terminal.tell(note) }
        var events = PageEvents(report.analysis, limit: maxEvents)
        if !LoadedProfile.isProfile(trace) {
            var loaded = try LoadedTrace(path: trace)
            _ = try loaded.read { events.add($0) }
        }
        events.finish()
        let page = print(events, PageOptions(sourceFolder: noSource ? nil : source))
        do {
            try Data(page.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure.tool(
                "Cannot write the page to \"\(output)\" (\(error.localizedDescription)); check that the disk has space, "
                    + "and that the folder exists and is writable.")
        }
        Terminal.tell("the page is in \"\(output)\": open it in a browser.")
    }
}
