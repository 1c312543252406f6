import ArgumentParser
import FaultlineReport

/// A subcommand that prints a document in the format that `--format` names.
protocol PrintingCommand: ParsableCommand {
    /// What it prints.
    static var document: Document { get }
    var format: OutputFormat<Self> { get }
}

extension PrintingCommand {
    /// Refuses a format that cannot print the document, before anything is read.
    func validate() throws {
        let command = Self.configuration.commandName ?? ""
        if let refusal = Renderers.refusal(of: format.renderer, for: Self.document, by: command) {
            throw ValidationError(refusal)
        }
    }
}

/// The value of a command's `--format`: one of ``Renderers/all``.
struct OutputFormat<Command: PrintingCommand>: ExpressibleByArgument {
    let renderer: any Renderer

    /// The default.
    static var text: OutputFormat { OutputFormat(renderer: Renderers.all[0]) }

    /// What the command's `--format` takes, in words.
    static var help: String { Renderers.help(for: Command.document) }

    private init(renderer: any Renderer) { self.renderer = renderer }

    /// Any format has a value, so that the command can say which ones it prints instead.
    init?(argument: String) {
        guard let renderer = Renderers.all.first(where: { $0.name == argument }) else { return nil }
        self.init(renderer: renderer)
    }

    var defaultValueDescription: String { renderer.name }

    /// The values in the help: those of the formats that can print the command's document.
    static var allValueStrings: [String] { Renderers.all(for: Command.document).map(\.name) }

    /// Writes a document to standard output.
    ///
    /// - Parameter document: The format's printer of the document.
    /// - Throws: ``CommandFailure`` if the output cannot be written.
    func write<Content>(
        _ content: Content, showsAll: Bool = false, as document: (any Renderer) -> ((Content, Layout) -> String)?
    ) throws {
        let output = Terminal.output
        let layout = Layout(width: output.width, isColoured: output.wantsColour, showsAll: showsAll)
        try output.write(document(renderer)?(content, layout) ?? "")
    }
}
