import ArgumentParser
import FaultlineReport
import Foundation

/// Checks what works on this machine, and prints the command that installs what is missing.
struct DoctorCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(Doctor.Diagnosis.self)
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks what works on this machine, what to install, and which parts of a program can be recorded.",
        discussion: """
            Everything is tried, usually in two seconds: a recording, a store, the locks of a directory, the clock, \
            this program's own stack and symbols. Nothing is left behind, and no daemon is started or stopped.

            ✓ works   ! works with limits   – is missing   ✗ does not work

            With a command, doctor also says what a recording of it will show: which copies of SQLite can be seen, and \
            whether stacks have the lines of the program. The command itself is not run; a Python interpreter is asked \
            for its version and its SQLite.

            faultline doctor -- python3 manage.py runserver
            faultline doctor --directory /var/lib/app
            faultline doctor --format json | jq .installation.command

            Exit status: 0 if everything works that a recording with the defaults needs, 1 if not. LTTng, Babeltrace \
            and symbols are not needed for that.
            """)

    @Argument(parsing: .postTerminator, help: "A command to record, after \"--\".", completion: .file())
    var command: [String] = []

    @Option(name: .long, help: "The directory of stores and traces.", completion: .directory)
    var directory = "."

    @Option(name: .long, help: ArgumentHelp(OutputFormat<DoctorCommand>.help))
    var format = OutputFormat<DoctorCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([]))
        let diagnosis = Doctor(directory: Self.named(directory), command: command.first).examine()
        try write(diagnosis, to: output)
        if !diagnosis.obstacles.isEmpty { Foundation.exit(1) }
    }

    /// The directory's absolute path, so the output is unambiguous.
    private static func named(_ directory: String) -> String {
        guard !directory.hasPrefix("/") else { return directory }
        let here = FileManager.default.currentDirectoryPath
        // A directory that was removed has no path.
        guard !here.isEmpty else { return directory }
        return directory == "." ? here : here + "/" + directory
    }
}
