import ArgumentParser
import FaultlineAnalysis
import FaultlineReplay
import FaultlineReport

/// Examines a store at rest.
struct InspectCommand: ParsableCommand, PrintingCommand {
    static let document = Document.inspection
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Examines a store file without a trace, and reports what will be slow.",
        discussion: """
            faultline inspect Library.sqlite
            faultline inspect Library.sqlite --model Library.xcdatamodeld

            Accepts any SQLite file. In a Core Data store it recognizes entities and, with --model, attributes and \
            relationships. It detects large values in rows and columns stored after them, sparse inheritance tables, \
            missing and redundant indexes, missing statistics, tables that belong together, empty space, persistent \
            history, and a page cache that is too small. It tries its advice on a copy of the store, and keeps only \
            what SQLite uses there and a measurement confirms. It writes neither to the file nor next to it.
            """)

    @Argument(help: "The file of the store.")
    var store: String

    @Option(name: .long, help: "The store's model: .xcdatamodeld, .xcdatamodel, or its file contents.")
    var model: String?

    @Option(name: .long, help: ArgumentHelp(OutputFormat<InspectCommand>.help))
    var format = OutputFormat<InspectCommand>.text

    func run() throws {
        let models = try model.map(ModelArgument.load) ?? []
        Interruption.removeCopiesFirst()
        let inspection: StoreInspection
        do {
            inspection = try StoreSurvey.inspect(path: store, models: models) { title in
                if Terminal.errors.columns != nil { Terminal.tell("Trying on a copy: \(title)") }
            }
        } catch {
            throw CommandFailure.replay(error)
        }
        try format.write(inspection) { $0.inspection }
    }
}
