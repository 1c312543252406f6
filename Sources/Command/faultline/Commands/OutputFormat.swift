import ArgumentParser
import FaultlineProfile
import FaultlineReport

/// A subcommand whose output has the format of `--format`.
protocol PrintingCommand: ParsableCommand {
    static var output: Output { get }
    var format: OutputFormat<Self> { get }
}

extension PrintingCommand {
    func validate() throws { try checkFormat() }

    /// Rejects a format that cannot print the output, before anything is read.
    func checkFormat() throws {
        let command = Self.configuration.commandName ?? ""
        if let refusal = Renderers.refusal(of: format.renderer, for: Self.output, by: command) {
            throw ValidationError(refusal)
        }
    }
}

extension PrintingCommand {
    /// Writes a document to standard output, or to a page.
    ///
    /// - Parameter page: The page's file, or `nil` for standard output.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func write(_ document: some DiagramPrinting, to page: OutputFile?) throws {
        if let page {
            return try page.write(.model(document.diagram), by: format.renderer, PageOptions(sourceFolder: nil))
        }
        try format.write(document)
    }
}

/// The value of a command's `--format`: one of ``Renderers/all``.
struct OutputFormat<Command: PrintingCommand>: ExpressibleByArgument {
    let renderer: any Renderer

    /// The default.
    static var text: OutputFormat { OutputFormat(renderer: Renderers.all[0]) }

    /// Whether the format is for people and not for other programs.
    var isText: Bool { renderer.name == Self.text.renderer.name }

    /// The help for the command's `--format`.
    static var help: String { Renderers.help(for: Command.output) }

    private init(renderer: any Renderer) { self.renderer = renderer }

    /// Accepts any known format, so the command can report which ones it prints.
    init?(argument: String) {
        guard let renderer = Renderers.all.first(where: { $0.name == argument }) else { return nil }
        self.init(renderer: renderer)
    }

    var defaultValueDescription: String { renderer.name }

    /// The values in the help: the formats that can print the command's output.
    static var allValueStrings: [String] { Renderers.all(for: Command.output).map(\.name) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// Writes a document to standard output.
    ///
    /// - Parameters:
    ///   - width: The number of characters in a line, or `nil` for the width of prose.
    /// - Throws: ``CommandFailure`` if the output cannot be written.
    func write(
        _ document: some Document, width: Int? = nil, showsAll: Bool = false, smallestShare: Double = 0,
        grouped: GroupedHotspots? = nil, next: NextStep? = nil,
        paths: RepositoryPaths? = nil
    ) throws {
        let output = Terminal.output
        let layout = Layout(
            width: width ?? output.width, isColoured: output.wantsColour, showsAll: showsAll,
            smallestShare: smallestShare, grouped: grouped, next: next, paths: paths)
        try output.write(renderer.printer(of: type(of: document))?(document, layout) ?? "")
    }
}
