import ArgumentParser
import FaultlineProfile
import FaultlineReport

/// A subcommand whose output has the format of `--format`, and goes to standard output or to the file of `-o`.
protocol PrintingCommand: ParsableCommand {
    static var output: Output { get }
    var format: OutputFormat<Self> { get }
    var file: PrintedFile { get }
}

/// The file that a command prints to.
struct PrintedFile: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: """
            The file to write, or - for standard output. Its extension decides the format, unless --format does. An earlier \
            output is replaced.
            """, completion: .file())
    var output: String?

    @Flag(name: .long, help: "Replace any file that the command does not read.")
    var force = false
}

extension PrintingCommand {
    func validate() throws { try checkFormat() }

    /// Rejects a format that cannot print the output, before anything is read.
    func checkFormat() throws {
        let command = Self.configuration.commandName ?? ""
        if let refusal = Renderers.refusal(of: renderer, for: Self.output, by: command) {
            throw ValidationError(refusal)
        }
    }

    /// The renderer of `--format`, or else that of the file's extension.
    var renderer: any Renderer {
        guard !format.isChosen, let path = file.output else { return format.renderer }
        return Renderers.named(byExtensionOf: path) ?? format.renderer
    }

    /// Checks that the output can be written.
    ///
    /// - Parameter inputs: The files that the command reads.
    /// - Returns: The file, or `nil` for standard output.
    /// - Throws: `ValidationError` or ``CommandFailure`` if it cannot be.
    func outputFile(_ inputs: CommandInputs) throws -> OutputFile? {
        let isPage = renderer.page != nil
        guard let path = file.output else {
            if isPage { throw ValidationError("A page is written to a file: name it with -o page.html.") }
            return nil
        }
        return try OutputFile(path, isPage ? .page : .document, inputs: inputs, isForced: file.force)
    }

    /// Writes a document.
    ///
    /// - Parameters:
    ///   - output: The file, or `nil` for standard output.
    ///   - width: The number of characters in a line, or `nil` for the width of prose.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func write(
        _ document: some Document, to output: OutputFile?, width: Int? = nil, showsAll: Bool = false,
        smallestShare: Double = 0, grouped: GroupedHotspots? = nil, next: NextStep? = nil, paths: RepositoryPaths? = nil
    ) throws {
        let terminal = output == nil ? Terminal.output : nil
        let layout = Layout(
            width: terminal.map { width ?? $0.width } ?? 100, isColoured: terminal?.wantsColour ?? false,
            showsAll: showsAll, smallestShare: smallestShare, grouped: grouped, next: next, paths: paths)
        let file = try output?.begin() ?? UnfinishedFile()
        try file.write(text: renderer.printer(of: type(of: document))?(document, layout) ?? "")
        try file.finish()
    }

    /// Writes a document, or a page of it.
    ///
    /// - Parameter output: The file, or `nil` for standard output.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func write(_ document: some DiagramPrinting, to output: OutputFile?) throws {
        if let output, renderer.page != nil {
            return try output.write(.model(document.diagram), by: renderer, PageOptions(sourceFolder: nil))
        }
        try write(document, to: output, next: nil)
    }
}

/// The value of a command's `--format`: one of ``Renderers/all``.
struct OutputFormat<Command: PrintingCommand>: ExpressibleByArgument {
    let renderer: any Renderer
    /// Whether the user named it.
    let isChosen: Bool

    /// The default.
    static var text: OutputFormat { OutputFormat(renderer: Renderers.all[0], isChosen: false) }

    /// The help for the command's `--format`.
    static var help: String { Renderers.help(for: Command.output) }

    private init(renderer: any Renderer, isChosen: Bool) { (self.renderer, self.isChosen) = (renderer, isChosen) }

    /// Accepts any known format, so the command can report which ones it prints.
    init?(argument: String) {
        guard let renderer = Renderers.all.first(where: { $0.name == argument }) else { return nil }
        self.init(renderer: renderer, isChosen: true)
    }

    var defaultValueDescription: String { renderer.name }

    /// The values in the help: the formats that can print the command's output.
    static var allValueStrings: [String] { Renderers.all(for: Command.output).map(\.name) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension Renderer {
    /// Whether the format is for people and not for other programs.
    var isText: Bool { name == Renderers.all[0].name }
}
