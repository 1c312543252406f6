import ArgumentParser
import FaultlineFindings
import FaultlineProfile
import FaultlineReplay
import FaultlineReport
import FaultlineRules
import FaultlineTrace

/// Examines a store at rest.
struct InspectCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(StoreInspection.self)
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Examines a store file, and reports what will be slow.",
        discussion: """
            faultline inspect Library.sqlite
            faultline inspect Library.sqlite --model Library.xcdatamodeld
            faultline inspect library.sqlite --trace trace.json
            faultline inspect library.sqlite -o library.html

            Accepts any SQLite file. In a Core Data store it recognizes entities, attributes and relationships. If the \
            store has no readable copy of its model, name the model with --model. It detects large values in rows and columns stored after them, sparse inheritance tables, \
            missing and redundant indexes, missing statistics, tables that belong together, empty space, persistent \
            history, and a page cache that is too small. It tries its advice on a copy of the store, and keeps only \
            what SQLite uses there and a measurement confirms. It writes neither to the file nor next to it.

            With --trace, it also asks SQLite on the copy which indexes the trace's slow statements would use, and detects indexes \
            that none of its statements uses.
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Option(
        name: .long, help: "The store's model: .xcdatamodeld, .xcdatamodel, or its file contents.", completion: .file())
    var model: String?

    @Option(name: .long, help: "A trace or profile of a program that uses the store.", completion: .file())
    var trace: String?

    @Option(name: .long, help: ArgumentHelp(OutputFormat<InspectCommand>.help))
    var format = OutputFormat<InspectCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([store, model, trace]))
        let models = try model.map(ModelArgument.load) ?? []
        let recorded = try trace.map(Self.recorded(in:))
        Interruption.removeCopiesFirst()
        let findings = try recorded.map { recorded in
            try Analysis(asking: store, about: recorded.profile).confirmedIndexes
        }
        let inspection: StoreInspection
        do {
            inspection = try StoreSurvey.inspect(
                path: store, models: models, statements: recorded?.statements, findings: findings ?? []
            ) {
                title in
                if Terminal.errors.columns != nil { Terminal.tell("Trying on a copy: \(title)") }
            }
        } catch {
            throw CommandFailure.replay(error)
        }
        if let use = inspection.facts.use, use.statements == 0 || use.strangers > 0 { Self.tell(use) }
        if let output, renderer.page != nil {
            return try output.write(.inspection(inspection), by: renderer, PageOptions(sourceFolder: nil))
        }
        let next = NextStep.Input(file: store).flatMap {
            NextStep.after(inspection, $0, hasTrace: trace != nil)
        }
        try write(inspection, to: output, next: next)
    }

    /// The profile of a trace, and its statements, which are `nil` if it is incomplete.
    private static func recorded(in path: String) throws -> (profile: Profile, statements: RecordedStatements?) {
        var planLines: Set<String> = []
        let loaded = try LoadedProfile(path: path) { message in
            guard case .entry(process: _, id: _, let entry) = message, case .plan(let plan) = entry else { return }
            planLines.formUnion(plan.rows.map(\.detail))
        }
        for note in loaded.notes { Terminal.tell(note) }
        let profile = loaded.profile
        guard profile.missing == 0, profile.removed == 0 else {
            Terminal.tell("Events are missing from the trace, so unused indexes are not reported.")
            return (profile, nil)
        }
        return (profile, RecordedStatements(profile.recordedStatements, planLines: planLines))
    }

    private static func tell(_ use: StatementUse) {
        guard use.statements > 0 else {
            return Terminal.tell("The trace has no statement that uses the tables of this store.")
        }
        let strangers = Phrase.count(use.strangers, "statement")
        Terminal.tell(
            use.strangers == 1
                ? "\(strangers) of the trace does not fit this store and is left out."
                : "\(strangers) of the trace do not fit this store and are left out.")
    }
}
