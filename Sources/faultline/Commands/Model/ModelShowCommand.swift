import ArgumentParser
import FaultlineReport

/// Shows a model.
struct ModelShowCommand: ParsableCommand, PrintingCommand {
    static let document = Document.model
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists the entities of a model with their properties.",
        discussion: """
            faultline model show Library.xcdatamodeld
            faultline model show Library.sqlite

            A store contains the model it was written with, even if Core Data wrote it. Core Data's copy lacks external storage, \
            validation, user info and fetched properties.
            """)

    @Argument(help: "The model: .xcdatamodeld, .xcdatamodel, its file contents, or a store.", completion: .file())
    var model: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelShowCommand>.help))
    var format = OutputFormat<ModelShowCommand>.text

    @OptionGroup(title: "Page") var page: PageFile

    func run() throws {
        let output = try page.check(format.renderer, inputs: CommandInputs([model]))
        try write(ModelListing(named: try NamedModel(path: model)), to: output)
    }
}
