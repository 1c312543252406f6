import ArgumentParser
import FaultlineRecorder
import Foundation

/// Runs a command with recording on and prints the report.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Runs a command with recording on and prints the report.",
        discussion: """
            The command's output, input, signals and exit status are its own; the report goes to stderr.

            faultline record -- .build/release/App --screen list
            faultline record -o scroll.json -- ./App
            """
    )

    @Option(name: [.short, .long], help: "Where the trace goes.")
    var output = "faultline.json"

    @Flag(name: .long, help: "Print no report.")
    var quiet = false

    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments, behind \"--\".")
    var command: [String] = []

    func validate() throws {
        if words.isEmpty {
            throw ValidationError("Name the command to record: faultline record -- ./App")
        }
    }

    /// The command without the dashes that set it off.
    private var words: [String] {
        command.first == "--" ? Array(command.dropFirst()) : command
    }

    func run() throws {
        let recording = try Recording.run(words, output: output)
        if !quiet { try printReport(recording) }
        recording.ending.passOn()
    }

    /// What goes wrong here is told, and the command's exit status is passed on all the same.
    private func printReport(_ recording: Recording) throws {
        if let complaint = recording.complaint { Terminal.tell(complaint) }
        guard recording.processes > 0 else {
            Terminal.tell(
                "No process of \"\(words[0])\" recorded anything; "
                    + "link FaultlineStore into the program and open its store there.")
            return
        }
        do {
            let report = try TraceReport(path: output)
            for note in report.notes { Terminal.tell(note) }
            try Terminal.errors.write("\n" + report.text(on: .errors) + "\n")
        } catch {
            Terminal.tell("\(error)")
        }
    }
}
