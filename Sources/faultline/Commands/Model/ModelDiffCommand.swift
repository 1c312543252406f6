import ArgumentParser
import FaultlineReport

/// Compares two versions of a model.
struct ModelDiffCommand: ParsableCommand, PrintingCommand {
    static let document = Document.model
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two versions of a model, and says whether stores can be migrated without a mapping model.",
        discussion: """
            faultline model diff Library.xcdatamodeld/Library.xcdatamodel Library.xcdatamodeld

            Takes renaming identifiers into account. Lists the changes that need a migration, and those that do not affect stores; \
            then why no mapping can be inferred, or what must be true of a store's objects. It warns of a removed and an added \
            entity or property that may be one under two names. A page draws the model as a diagram, with the changes marked.
            """)

    @Argument(help: "The older version.", completion: .file())
    var old: String

    @Argument(help: "The newer version.", completion: .file())
    var new: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelDiffCommand>.help))
    var format = OutputFormat<ModelDiffCommand>.text

    @OptionGroup(title: "Page") var page: PageFile

    func run() throws {
        let output = try page.check(format.renderer, inputs: CommandInputs([old, new]))
        let comparison = VersionComparison(from: try NamedModel(path: old), to: try NamedModel(path: new))
        try write(comparison, to: output)
    }
}
