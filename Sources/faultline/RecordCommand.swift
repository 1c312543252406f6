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
            faultline record --to lttng -- ./App
            """
    )

    @Option(
        name: .long,
        help: "timeline: a JSON timeline. lttng: a CTF trace; a session is made, and a session daemon if none runs.")
    var to = RecordingDestination.timeline

    @Option(
        name: [.short, .long],
        help: "The timeline, or the directory of the CTF trace. Default: faultline.json, faultline-lttng.")
    var output: String?

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
        let output = output ?? to.defaultOutput
        let recording = try Recording.run(words, to: to, output: output)
        if !quiet { try printReport(recording, output) }
        recording.ending.passOn()
    }

    /// What goes wrong here is told, and the command's exit status is passed on all the same.
    private func printReport(_ recording: Recording, _ output: String) throws {
        if let complaint = recording.complaint { Terminal.tell(complaint) }
        if recording.processes == 0 {
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
