import ArgumentParser

/// Compares and shows versions of models.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows a model, compares two versions of it, and finds the version of a store.",
        discussion: """
            faultline model show Library.xcdatamodeld
            faultline model diff Library.xcdatamodeld/Library.xcdatamodel Library.xcdatamodeld/Library2.xcdatamodel
            faultline model diff Library.xcdatamodel Library2.xcdatamodel --format html -o diff.html
            faultline model find Library.sqlite Library.xcdatamodeld

            A model is an .xcdatamodel, or its file contents, or an .xcdatamodeld for its current version. A store means the \
            version it was written with.
            """,
        subcommands: [ModelDiffCommand.self, ModelShowCommand.self, ModelFindCommand.self])
}
