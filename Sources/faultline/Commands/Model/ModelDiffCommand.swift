import ArgumentParser
import FaultlineReport

/// Compares two versions of a model.
struct ModelDiffCommand: ParsableCommand, PrintingCommand {
    static let document = Document.other
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two versions of a model, and says whether stores can be migrated without a mapping model.",
        discussion: """
            faultline model diff Library.xcdatamodeld/Library.xcdatamodel Library.xcdatamodeld

            Takes renaming identifiers into account. Lists the changes that need a migration, and those that stores do not see; \
            then why no mapping can be inferred, or what must be true of a store's objects. It warns of a removed and an added \
            attribute that may be one attribute under two names.
            """)

    @Argument(help: "The older version.", completion: .file())
    var old: String

    @Argument(help: "The newer version.", completion: .file())
    var new: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelDiffCommand>.help))
    var format = OutputFormat<ModelDiffCommand>.text

    func run() throws {
        let comparison = VersionComparison(from: try NamedModel(path: old), to: try NamedModel(path: new))
        try format.write(comparison) { $0.other }
    }
}
