import ArgumentParser
import FaultlineRecorder
import FaultlineReport
import FaultlineTrace
import Foundation

/// Runs a command with recording on and prints the report.
struct RecordCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Runs a command with recording on and prints the report.",
        discussion: """
            The command's output, input, signals and exit status are its own; the report goes to stderr.

            faultline record -- .build/release/App --screen list
            faultline record -o scroll.json -- ./App
            faultline record --to lttng -- ./App
            faultline record --try 'List.swift:42 batch=15 prefetch=location' -- ./App

            With --try, the fetch at that line runs with different options, without an edit to the source: batch=N, \
            limit=N, prefetch=PATH,…, prefetch=-PATH,…, properties=NAME,… and ids. The command runs twice, first unchanged, \
            and the report compares the two runs. The trace of the unchanged run is kept as NAME-untried.json, next to \
            NAME.json.
            """
    )

    @Option(
        name: .long,
        help:
            "timeline: a trace as JSON. lttng: a CTF trace; creates a session, and starts a session daemon if none is running."
    )
    var to = RecordingDestination.timeline

    @Option(
        name: [.short, .long],
        help: "The trace's file, or the directory of the CTF trace. Default: faultline.json, faultline-lttng.",
        completion: .file())
    var output: String?

    @Option(
        name: .customLong("try"),
        help:
            "A line of the program and the options of its fetch: 'List.swift:42 batch=15'. Can be given several times."
    )
    var advice: [String] = []

    @Option(
        name: .long, help: "With --try: an existing trace of the unchanged command, used instead of a first run.",
        completion: .file())
    var against: String?

    @OptionGroup var detail: RecordedDetail

    @Flag(
        name: .long,
        help: "Replace any file. An earlier trace is replaced without --force.")
    var force = false

    @Flag(
        name: .long,
        help: "Print no report, only what the trace lacks: lost events, or programs that were not recorded.")
    var quiet = false

    @Flag(
        name: .long,
        help: """
            Show the elapsed time, the number of events and the trace's size on the terminal while the command runs, even \
            if its output goes there too and mixes with them.
            """)
    var progress = false

    @Flag(name: .long, help: "Show every finding of the report in full, and every hotspot.")
    var all = false

    @OptionGroup var options: AnalysisOptions

    @Argument(
        parsing: .captureForPassthrough, help: "The command and its arguments, after \"--\".", completion: .file())
    var command: [String] = []

    func validate() throws {
        try checkOptions()
        if words.isEmpty {
            throw ValidationError("Name the command to record: faultline record -- ./App")
        }
        if against != nil, advice.isEmpty {
            throw ValidationError("--against needs --try, which names the change to compare.")
        }
        for text in advice {
            do {
                _ = try FetchAdvice(text)
            } catch {
                throw ValidationError("--try \"\(text)\" \(error).")
            }
        }
    }

    /// Handles an option in place of the command: a request for help, or an option that `record` does not have.
    ///
    /// The parser passes on everything from the first unknown word. Options after `--`, or after the command's name,
    /// belong to the command.
    private func checkOptions() throws {
        guard let first = command.first, first.hasPrefix("-"), first != "--" else { return }
        switch first {
        case "-h", "--help": throw CleanExit.helpRequest(Self.self)
        case "--version": throw CleanExit.message(Version.current)
        default:
            throw ValidationError(
                "\"record\" has no option \"\(first)\"; \"faultline help record\" lists them. "
                    + "Put \"--\" before a command whose name begins with a dash.")
        }
    }

    /// The command, without a leading `--`.
    var words: [String] {
        command.first == "--" ? Array(command.dropFirst()) : command
    }

    /// The files that this command reads, and those that the recorded one may read: its program, and its arguments.
    private var inputs: CommandInputs {
        let files = words.filter { word in
            var status = stat()
            return stat(word, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
        return CommandInputs([against, options.thresholds, ProgramFile.locate(words[0])] + files)
    }

    func work() throws {
        let output = output ?? to.defaultOutput
        let inputs = inputs
        try to.check(output, inputs: inputs, isForced: force)
        let advice = try advice.map { try FetchAdvice($0) }
        guard advice.isEmpty else {
            let trial = AdviceTrial(
                words: words, advice: advice, destination: to, output: output, against: against, detail: detail)
            return try trial.run(quiet, inputs)
        }
        let line = quiet ? nil : ProgressLine(isWanted: progress)
        let recording = try Recording.run(words, to: to, output: output, detail: detail, progress: line)
        // Losses are reported even if nothing else is.
        let trace = recording.tell(words[0])
        if let trace {
            if quiet { reportLosses(recording.outcome) } else { printReport(trace) }
        }
        recording.ending.passOn()
    }

    /// Reports lost events.
    ///
    /// The first line of a report does so too.
    private func reportLosses(_ outcome: TraceCollector.Outcome) {
        if outcome.withoutRing > 0 {
            Terminal.tell(RecorderError.withoutBuffer(outcome.withoutRing, failure: outcome.ringFailure))
        }
        guard outcome.lost > 0 else { return }
        let recorded = outcome.events.map { " of \($0 + outcome.lost + outcome.withoutRing)" } ?? ""
        Terminal.tell(
            "\(outcome.lost)\(recorded) events were lost because buffers were full; "
                + "larger ones would help: FAULTLINE_RING_BYTES=\(RingDirectory.ringBytes * 4).")
    }

    /// Prints the report.
    ///
    /// An error is printed, and the command's exit status is passed on all the same.
    private func printReport(_ trace: String) {
        do {
            let report = try TraceReport(path: trace)
            for note in report.notes { Terminal.tell(note) }
            try Terminal.errors.write(
                "\n" + report.text(on: .errors, showsAll: all, next: report.nextStep(options)) + "\n")
        } catch {
            Terminal.tell("\(error)")
        }
    }
}
