import ArgumentParser
import FaultlineReport

/// Compares and shows versions of models.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows a model, compares two versions of it, and finds the version of a store.",
        discussion: """
            faultline model show Library.xcdatamodeld
            faultline model diff Library.xcdatamodeld/Library.xcdatamodel Library.xcdatamodeld/Library2.xcdatamodel
            faultline model diff Library.xcdatamodel Library2.xcdatamodel -o diff.html
            faultline model find Library.sqlite Library.xcdatamodeld

            A model is an .xcdatamodel, its file contents, or an .xcdatamodeld for its current version; or compiled, a .mom, or a \
            .momd for its current version. A store stands for the version it was written with.
            """,
        subcommands: [ModelDiffCommand.self, ModelShowCommand.self, ModelFindCommand.self])
}

/// Shows a model.
struct ModelShowCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(ModelListing.self)
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists the entities of a model with their properties.",
        discussion: """
            faultline model show Library.xcdatamodeld
            faultline model show Library.sqlite
            faultline model show Library.momd/Library2.mom
            faultline model show Library-Library2.xcmappingmodel
            faultline model show Library.xcdatamodeld --format swift > Library.swift

            A store contains the model it was written with, even if Core Data wrote it. Core Data's copy and compiled models lack \
            external storage, validation, user info and fetched properties. Of a mapping model, the command lists the entities \
            that become others, and the expressions for their properties.

            As Swift, a model is a class for each entity, with a key and a variable for each property.
            """)

    @Argument(
        help: "The model: .xcdatamodeld, .xcdatamodel, its file contents, .momd, .mom, a store, or an .xcmappingmodel.",
        completion: .file())
    var model: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelShowCommand>.help))
    var format = OutputFormat<ModelShowCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([model]))
        let listing = try ModelListing(path: model)
        if renderer.name == "swift", !listing.hasClasses {
            throw CommandFailure.usage("'\(model)' is a mapping model, which has no classes; name a model.")
        }
        try write(listing, to: output)
    }
}

/// Compares two versions of a model.
struct ModelDiffCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(VersionComparison.self)
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two versions of a model, and reports whether stores need a mapping model.",
        discussion: """
            faultline model diff Library.xcdatamodeld/Library.xcdatamodel Library.xcdatamodeld

            Takes renaming identifiers into account. Lists the changes that need a migration, and those that need none; then the \
            reason why no mapping can be inferred, or the conditions that a store's objects must meet. Warns of a removed and \
            an added entity or property that may be one under two names. A page draws the model as a diagram, with the changes \
            marked.
            """)

    @Argument(help: "The older version.", completion: .file())
    var old: String

    @Argument(help: "The newer version.", completion: .file())
    var new: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelDiffCommand>.help))
    var format = OutputFormat<ModelDiffCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([old, new]))
        let comparison = VersionComparison(from: try NamedModel(path: old), to: try NamedModel(path: new))
        try write(comparison, to: output)
    }
}

/// Finds the version of a store.
struct ModelFindCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(VersionSearch.self)
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Finds the version of a model with which a store was written.",
        discussion: """
            faultline model find Library.sqlite Library.xcdatamodeld

            Compares version hashes if Faultline wrote the store, and entities, tables and columns if Apple's framework did. Writes \
            nothing. The exit status is 1 if no version fits.
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Argument(
        help: "The models: all versions of an .xcdatamodeld or .momd, or single versions.", completion: .file())
    var models: [String]

    @Option(name: .long, help: ArgumentHelp(OutputFormat<ModelFindCommand>.help))
    var format = OutputFormat<ModelFindCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([store] + models))
        let search = try VersionSearch(store: store, models: try models.flatMap { try NamedModel.all(path: $0) })
        try write(search, to: output)
        if !search.hasFound { throw ExitCode(1) }
    }
}
