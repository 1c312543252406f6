import ArgumentParser
import FaultlineModel
import FaultlineProfile
import FaultlineReplay
import FaultlineReport
import FaultlineRules
import FaultlineTrace

/// Tries the advice of a trace on a copy of a store.
struct VerifyCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(Verification.self)
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Tries a trace's advice on a copy of the store, and measures what it saves.",
        discussion: """
            faultline verify trace.json --store Library.sqlite
            faultline verify trace.json --store Library.sqlite --model Library.xcdatamodeld
            faultline verify trace.json --store Library.sqlite -o report.html

            Replays the recorded fetches and saves for each testable finding, alternately with and without the change, \
            and prints the measured saving beside the predicted one. If the trace has no values (see record \
            --values), they are drawn from the copy. The store itself is never opened. If it has no readable copy of its \
            model, name the model with --model. For a program without FaultlineStore, it replays the statements.

            Advice on a migration is tried on a store that has not been migrated, such as a backup. In that case, --model names \
            the newer version.

            confirmed: the saving is as predicted, or its range overlaps the predicted one.
            saves more, saves less: it is outside that range; the change still saves time.
            saves no time: the finding predicted none, only fewer trips, rows or bytes.
            below the noise: the difference is within the noise; the counts are exact.
            withdrawn: it saves far less than predicted, or nothing; do not make the change to save time.

            A predicted range is widened to 20 % on either side, because only some operations are replayed. \
            Times are CPU times of the replayed fetches, and elapsed times of saves and migrations. Trips and rows include the identities that a batched \
            fetch loads first and depend on what the row cache holds, so they can differ from the report's.
            """)

    @Argument(help: "A trace, or a profile of traces.", completion: .file())
    var trace: String

    @Option(
        name: .long, help: "The file of the store that the program used. The default is the file that the trace names.",
        completion: .file())
    var store: String?

    @Option(
        name: .long, help: "The store's model: .xcdatamodeld, .xcdatamodel, its file contents, or another store.",
        completion: .file())
    var model: String?

    @Option(name: .long, help: ArgumentHelp(OutputFormat<VerifyCommand>.help))
    var format = OutputFormat<VerifyCommand>.text

    @OptionGroup(title: "Page") var page: PageOutput
    var file: PrintedFile { page.file }

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let output = try page.check(for: self, inputs: [trace, store, model, options.thresholds])
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes { Terminal.tell(note) }
        // The analysis comes first, because a malicious profile fails here before anything is copied.
        _ = Analysis(loaded.profile)
        let models = try model.map(ModelArgument.load) ?? []
        guard let store = store ?? loaded.profile.mainDatabase else {
            throw CommandFailure.usage("\(trace) does not name the program's store; name its file with --store.")
        }
        Interruption.removeCopiesFirst()
        let analysis = try Analysis(asking: store, about: loaded.profile)
        let verification: Verification
        do {
            verification = try verify(analysis, on: store, models)
        } catch {
            throw CommandFailure.replay(error)
        }
        if let output, renderer.page != nil {
            let events = try page.events(of: trace, analysis)
            return try output.write(.report(events, MeasuredSavings(verification)), by: renderer, page.options)
        }
        let next = NextStep.Input(file: trace, options.words).flatMap { NextStep.after(verification, $0) }
        try write(verification, to: output, next: next)
    }

    private func verify(
        _ analysis: Analysis, on store: String, _ models: [ManagedObjectModel]
    ) throws(ReplayError) -> Verification {
        let total = UInt64(analysis.findings.count)
        let result: Result<Verification, ReplayError> = ProgressBar.during("trying the advice", .things("finding")) {
            show in
            Result { () throws(ReplayError) in
                guard analysis.profile.allProcesses.lacks(.operations) else {
                    return try StoreVerifier(
                        path: store, models: models, allowsNewerModels: analysis.hasAdviceOnMigrations
                    ).verify(analysis) { show?(UInt64($1), total) }
                }
                return try StatementVerifier(path: store).verify(analysis) { show?(UInt64($1), total) }
            }
        }
        return try result.get()
    }
}
