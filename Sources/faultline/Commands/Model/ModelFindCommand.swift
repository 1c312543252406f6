import ArgumentParser
import FaultlineReport

/// Finds the version of a store.
struct ModelFindCommand: ParsableCommand, PrintingCommand {
    static let document = Document.other
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Finds the version of a model with which a store was written.",
        discussion: """
            faultline model find Library.sqlite Library.xcdatamodeld

            Compares the version hashes where Faultline wrote the store, and entities, tables and columns where Apple's framework \
            did. Writes nothing. The exit status is 1 if no version fits.
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Argument(help: "The models: all versions of an .xcdatamodeld, or single versions.", completion: .file())
    var models: [String]

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelFindCommand>.help))
    var format = OutputFormat<ModelFindCommand>.text

    func run() throws {
        let search = try VersionSearch(store: store, models: try models.flatMap { try NamedModel.all(path: $0) })
        try format.write(search) { $0.other }
        if !search.hasFound { throw ExitCode(1) }
    }
}
