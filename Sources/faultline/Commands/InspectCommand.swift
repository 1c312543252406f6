import ArgumentParser
import FaultlineAnalysis
import FaultlineReplay
import FaultlineReport

/// Looks at a store at rest.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Looks at a store at rest, and says what will be slow.",
        discussion: """
            faultline inspect Library.sqlite
            faultline inspect Library.sqlite --model Library.xcdatamodeld

            Any SQLite file; of Core Data's it knows entities, and with the model properties and relationships. Large values \
            in rows and columns behind them, sparse inheritance tables, missing and redundant indexes, tables that belong \
            together, empty space, persistent history, and the page cache. It tries its advice on a copy of the store and \
            gives only what SQLite uses there and a measurement confirms. The file is not written, nor is anything beside it.
            """)

    @Argument(help: "The file of the store.")
    var store: String

    @Option(name: .long, help: "The store's model: .xcdatamodeld, .xcdatamodel, or its file contents.")
    var model: String?

    @Option(name: .long, help: "text, or json for programs.")
    var format = OutputFormat.text

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
        let output = Terminal.output
        switch format {
        case .text: try output.write(InspectionText(inspection).render(width: output.width, colour: output.wantsColour))
        case .json: try output.write(InspectionJSON(inspection).render())
        }
    }
}
