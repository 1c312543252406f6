import ArgumentParser
import FaultlineAnalysis
import Foundation

/// The command: it parses its arguments, runs a subcommand and turns what goes wrong into a sentence and an exit status.
@main
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Records what a program does to its object store, and says what to change.",
        discussion: """
            faultline record -- ./App        runs the program with recording on and prints the report
            faultline report trace.json      prints the report of a trace
            faultline diff before.json after.json   says what got worse, better, new and gone
            faultline check trace.json --budget budget.json   fails if a build asks too much of its store
            faultline profile trace.json -o trace.profile   sums a trace up in a small file
            faultline merge a.profile b.profile             adds such files up
            faultline events trace.json      prints a trace's events, one a line
            faultline query trace.json SQL   asks a trace's events, as tables, with SQL
            faultline verify trace.json --store Store.sqlite   tries the advice on a copy of the store, and measures it
            faultline inspect Store.sqlite   looks at a store at rest, and says what will be slow
            faultline explain R02            tells what a rule looks for, and what it leaves alone
            faultline demo                   shows all of it on a shopping list with four flaws
            faultline demo music             and on a music library with five
            faultline doctor                 says what works on this machine, and what to install
            faultline recover                lists what killed programs have left, and makes traces of it
            faultline clean                  removes what killed recordings have left behind

            Exit status: 0 fine, 2 wrong use, 75 failure of the tool; record passes on the program's own, check \
            gives 1 where a budget is broken, and doctor where a recording would not work.
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
            // Asking for help is no mistake.
            if exitCode(for: error) == .success {
                try? Terminal.output.write(text + "\n")
                Foundation.exit(0)
            }
            try? Terminal.errors.write(text + "\n")
            Foundation.exit(exitCode(for: error) == .validationFailure ? 2 : 75)
        }
    }

    /// An error of the parser's about arguments that a terminal can show: it quotes them, and a file's name may be anybody's.
    ///
    /// The parser says the same of arguments that were made printable.
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
