import ArgumentParser
import FaultlineReport
import FaultlineRules
import Foundation

/// The options of commands that can write a page of events.
struct PageOutput: ParsableArguments {
    @OptionGroup var file: PrintedFile

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder with the program's sources. A page shows them; reports in sarif and github use their paths. "
                + "Default for a page: the current one.", valueName: "folder"), completion: .directory)
    var sources: String?

    @Flag(name: .long, help: "Leave the program's source out of the page.")
    var noSource = false

    @Option(
        name: .long,
        help:
            "The maximum number of events that the page shows one by one. If a trace has more, the page keeps the longest events and a share of those without a duration, such as samples; the others appear as totals."
    )
    var maxEvents = PageEvents.standardLimit

    /// Checks the options, and that the output can be written.
    ///
    /// - Parameter paths: The files that the command reads.
    /// - Returns: The file, or `nil` for standard output.
    /// - Throws: `ValidationError` or ``CommandFailure`` if not.
    func check(for command: some PrintingCommand, inputs paths: [String?]) throws -> OutputFile? {
        guard (1...10_000_000).contains(maxEvents) else {
            throw ValidationError("--max-events must be between 1 and 10,000,000, not \(maxEvents).")
        }
        let output = try command.outputFile(CommandInputs(paths, sources: sourceFolder))
        if command.renderer.page != nil, let sources { try SourceFiles.check(sources) }
        return output
    }

    /// The folder whose sources a page shows.
    private var sourceFolder: String? { noSource ? nil : sources ?? "." }

    /// The options of a page.
    var options: PageOptions { PageOptions(sourceFolder: sourceFolder) }

    /// Collects the events of a trace.
    ///
    /// A profile has none.
    ///
    /// - Throws: ``CommandFailure`` if the trace cannot be read.
    func events(of trace: String, _ analysis: Analysis) throws -> PageEvents {
        var events = PageEvents(analysis, limit: maxEvents)
        if !LoadedProfile.isProfile(trace) {
            var loaded = try LoadedTrace(path: trace)
            _ = try loaded.read { events.add($0) }
        }
        events.finish()
        return events
    }
}

extension OutputFile {
    /// Writes a page.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be.
    func write(_ content: PageContent, by renderer: any Renderer, _ options: PageOptions) throws {
        guard let print = renderer.page else { return }
        try write(Data(print(content, options).utf8))
        if !isStandardOutput { Terminal.tell("the page is in \"\(path)\": open it in a browser.") }
    }
}
