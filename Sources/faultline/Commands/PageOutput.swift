import ArgumentParser
import FaultlineAnalysis
import FaultlineReport
import Foundation

/// The file of a page.
struct PageFile: ParsableArguments {
    @Option(name: .shortAndLong, help: "The file for --format html. An earlier page is replaced.", completion: .file())
    var output: String?

    @Flag(name: .long, help: "Replace any file.")
    var force = false

    /// Checks that the options fit the format, and that the page can be written.
    ///
    /// - Returns: Whether the format is one for pages.
    /// - Throws: `ValidationError` or ``CommandFailure`` if not.
    @discardableResult
    func check(_ renderer: any Renderer) throws -> Bool {
        guard renderer.page != nil else {
            guard output == nil else {
                throw ValidationError(
                    "-o is for --format html; other formats are printed, and > writes them to a file.")
            }
            return false
        }
        guard let output else { throw ValidationError("A page is written to a file: name it with -o page.html.") }
        try OutputFile.check(output, replacing: .page, isForced: force)
        return true
    }

    /// Writes a page, if the format is one for pages.
    ///
    /// - Returns: Whether it was written.
    /// - Throws: ``CommandFailure`` if it cannot be.
    func write(
        _ renderer: any Renderer, _ options: PageOptions, _ content: () throws -> PageContent
    ) throws -> Bool {
        guard let print = renderer.page, let output else { return false }
        let page = print(try content(), options)
        do {
            try Data(page.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure.tool(
                "Cannot write the page to \"\(output)\" (\(error.localizedDescription)); check that the disk has space, "
                    + "and that the folder exists and is writable.")
        }
        Terminal.tell("the page is in \"\(output)\": open it in a browser.")
        return true
    }
}

/// The options of commands that can write a page of events.
struct PageOutput: ParsableArguments {
    @OptionGroup var file: PageFile

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder with the program's sources, which a page shows, and whose paths a report in sarif and github has. "
                + "Default for a page: the current one.", valueName: "folder"), completion: .directory)
    var sources: String?

    @Flag(name: .long, help: "Leave the program's source out of the page.")
    var noSource = false

    @Option(
        name: .long,
        help:
            "The number of events that the page shows individually. Of a trace with more, it shows the samples, the longest events, and an equal share of those that take no time, and sums the others."
    )
    var maxEvents = PageEvents.standardLimit

    /// Checks that the options fit the format, and that the page can be written.
    ///
    /// - Throws: `ValidationError` or ``CommandFailure`` if not.
    func check(_ renderer: any Renderer) throws {
        guard (1...10_000_000).contains(maxEvents) else {
            throw ValidationError("--max-events must be between 1 and 10,000,000, not \(maxEvents).")
        }
        if try file.check(renderer), let sources { try SourceFiles.check(sources) }
    }

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

    /// Writes a page, if the format is one for pages.
    ///
    /// - Returns: Whether it was written.
    /// - Throws: ``CommandFailure`` if it cannot be.
    func write(_ renderer: any Renderer, _ content: () throws -> PageContent) throws -> Bool {
        try file.write(renderer, PageOptions(sourceFolder: noSource ? nil : sources ?? "."), content)
    }
}
