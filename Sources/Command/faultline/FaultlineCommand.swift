import ArgumentParser
import FaultlineFindings
import FaultlineReport
import Foundation

/// The command: it parses its arguments, runs a subcommand, and turns errors into a sentence and an exit status.
@main
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Records what a program asks of its object store, and reports what to change.",
        discussion: """
            faultline record -- ./App
            faultline report trace.json
            faultline diff before.json after.json
            faultline tree trace.json
            faultline timeline trace.json
            faultline check trace.json --budget budget.json
            faultline verify trace.json --store Store.sqlite
            faultline inspect Store.sqlite
            faultline migrate Store.sqlite --to Model.xcdatamodeld --dry-run
            faultline export trace.json --to speedscope -o profile.json
            faultline explain R02
            faultline demo

            Exit status: 0 success, 2 usage or input error, 75 internal error. record returns the program's status, check returns 1 \
            if a limit is exceeded or a finding is not allowed, and doctor returns 1 if recording would not work.
            """,
        version: Version.current,
        subcommands: [
            RecordCommand.self, ReportCommand.self, DiffCommand.self, CheckCommand.self, ProfileCommand.self,
            EventsCommand.self, TreeCommand.self, TimelineCommand.self, QueryCommand.self, ExportCommand.self,
            VerifyCommand.self,
            InspectCommand.self, ModelCommand.self, MigrateCommand.self,
            ExplainCommand.self,
            DemoCommand.self,
            DoctorCommand.self, RecoverCommand.self, CleanCommand.self,
            WorkloadCommand.self,
        ]
    )

    static func main() {
        do {
            var command = try parse(Array(CommandLine.arguments.dropFirst()))
            try RawArguments.check(passingOn: (command as? RecordCommand)?.words.count ?? 0)
            try command.run()
        } catch let code as ExitCode {
            Foundation.exit(code.rawValue)
        } catch let failure as CommandFailure {
            Terminal.tell(failure.description)
            Foundation.exit(failure.status.rawValue)
        } catch {
            let text = ValueHint.add(to: fullMessage(for: printable(error)))
            // A request for help is not an error.
            if exitCode(for: error) == .success {
                try? Terminal.output.write(text + "\n")
                Foundation.exit(0)
            }
            try? Terminal.errors.write(text + "\n")
            Foundation.exit(exitCode(for: error) == .validationFailure ? 2 : 75)
        }
    }

    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        try CommandName.check(arguments, of: Self.self)
        return try parseAsRoot(arguments)
    }

    /// Returns a parser error that is safe to print.
    ///
    /// It quotes arguments, which may be file names that contain control characters.
    ///
    /// The parser reports the same error for the printable arguments.
    private static func printable(_ error: any Error) -> any Error {
        let arguments = CommandLine.arguments.dropFirst().map { Phrase.printable($0) }
        guard !arguments.elementsEqual(CommandLine.arguments.dropFirst()) else { return error }
        do {
            _ = try parse(arguments)
            return error
        } catch {
            return error
        }
    }
}
