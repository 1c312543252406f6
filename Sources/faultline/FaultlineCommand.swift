import ArgumentParser
import FaultlineAnalysis
import Foundation

/// The command: it parses its arguments, runs a subcommand, and turns errors into a sentence and an exit status.
@main
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Records what a program asks of its object store, and reports what to change.",
        discussion: """
            faultline record -- ./App        runs the program with recording on, and prints the report
            faultline report trace.json      prints the report of a trace
            faultline diff before.json after.json   lists what got worse or better, and what is new or gone
            faultline check trace.json --budget budget.json   fails if a build asks too much of its store
            faultline profile trace.json -o trace.profile   summarizes a trace in a small file
            faultline merge a.profile b.profile             merges such files
            faultline events trace.json      prints a trace's events, one per line
            faultline query trace.json SQL   queries a trace's events as SQL tables
            faultline verify trace.json --store Store.sqlite   measures the advice on a copy of the store
            faultline inspect Store.sqlite   examines a store file without a trace
            faultline explain R02            describes a rule
            faultline demo                   records and compares a shopping list with and without flaws
            faultline demo music --database Chinook.sqlite   does the same with a music library
            faultline doctor                 checks what works on this machine, and what to install
            faultline recover                saves events that killed programs left in shared memory
            faultline clean                  removes leftovers of recordings that were killed

            Exit status: 0 success, 2 usage error, 75 internal error. record returns the program's status, check returns 1 \
            if a limit is exceeded or a finding is not allowed, and doctor returns 1 if recording would not work.
            """,
        version: Version.current,
        subcommands: [
            RecordCommand.self, ReportCommand.self, DiffCommand.self, CheckCommand.self, ProfileCommand.self,
            MergeCommand.self,
            EventsCommand.self, QueryCommand.self, VerifyCommand.self, InspectCommand.self, ExplainCommand.self,
            DemoCommand.self,
            DoctorCommand.self, RecoverCommand.self, CleanCommand.self,
            WorkloadCommand.self,
        ]
    )

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let code as ExitCode {
            Foundation.exit(code.rawValue)
        } catch let failure as CommandFailure {
            Terminal.tell(failure.description)
            Foundation.exit(failure.status.rawValue)
        } catch {
            let text = fullMessage(for: printable(error))
            // A request for help is not an error.
            if exitCode(for: error) == .success {
                try? Terminal.output.write(text + "\n")
                Foundation.exit(0)
            }
            try? Terminal.errors.write(text + "\n")
            Foundation.exit(exitCode(for: error) == .validationFailure ? 2 : 75)
        }
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
            _ = try parseAsRoot(arguments)
            return error
        } catch {
            return error
        }
    }
}
