import ArgumentParser
import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineTrace

/// Prints a trace's events, one per line.
struct EventsCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.events
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints a trace's events, one per line.",
        discussion: """
            faultline events trace.json --kind fault --min-duration 1ms --stack
            faultline events trace.json --kind fetch,batch --entity Item
            faultline events trace.json --scope list --from 1.5s --to 2s
            faultline events trace.json --thread main --site List.swift:42
            faultline events trace.json --finding 2
            faultline events trace.json --format json | jq .duration
            faultline events trace.json --kind sql -o statements.csv

            Events are listed in the order in which they were written: a thread's events in the order in which they ended.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @OptionGroup(title: "Selection") var selection: EventSelection<ToOption>

    @OptionGroup var options: AnalysisOptions

    @Flag(name: .long, help: "Show the call stack below each event.")
    var stack = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            OutputFormat<EventsCommand>.help + " JSON is one object per line. CSV has the fields of the selected kinds."
        ))
    var format = OutputFormat<EventsCommand>.text

    @OptionGroup var file: PrintedFile

    func work() throws {
        let file = try outputFile(CommandInputs([trace, options.thresholds]))?.begin() ?? UnfinishedFile()
        let (finding, told) = try selection.selectedFinding(in: trace)
        var trace = try LoadedTrace(path: trace)
        for note in trace.notes where !told.contains(note) { Terminal.tell(note) }
        var processes: [UInt32: ProcessNames] = [:]
        guard let format = renderer.events else { return }
        var printers: [UInt32: any EventLines] = [:]
        var selector = EventSelector(selection, finding: finding)
        let kinds = selection.kind?.kinds ?? Set(EventKind.allCases)
        // A filter selects events only. Without one, processes and losses are printed too.
        let processLines = selection.isWhole ? format as? any ProcessLines.Type : nil
        var lost: UInt64 = 0
        var output = LineBuffer(file: file)
        if let title = format.title(of: kinds, stack: stack) { try output.add(title) }
        // On a terminal, the events themselves show how far the reading is.
        let summary = try trace.read(showsProgress: !file.isStandardOutput || !Terminal.output.isTerminal) { message in
            switch message {
            case .entry(let process, let id, let entry):
                processes[process, default: ProcessNames()].insert(entry, id: id)
            case .event(let event):
                guard selector.selects(event, &processes[event.process, default: ProcessNames()]) else { return }
                let dictionary = processes[event.process]?.dictionary ?? TraceDictionary()
                var printer =
                    printers.removeValue(forKey: event.process)
                    ?? format.init(dictionary: dictionary, kinds: kinds, stack: stack)
                for line in printer.lines(event, stack: stack) { try output.add(line) }
                printers[event.process] = printer
            case .began(let began): if let processLines { try output.add(processLines.line(began)) }
            case .lost(let loss):
                lost += loss.events
                if let processLines { try output.add(processLines.line(loss)) }
            case .ended(let ended): if let processLines { try output.add(processLines.line(ended)) }
            }
        }
        try output.flush()
        try file.finish()
        if lost > 0, !(format is any ProcessLines.Type) {
            Terminal.tell(Profile.lossSentence(lost))
        }
        for remark in summary.remarks { Terminal.tell(remark) }
        try selector.tellRemarks()
    }
}

/// Buffers lines, so a million events do not take a million writes.
private struct LineBuffer {
    let file: UnfinishedFile
    private var text = ""

    init(file: UnfinishedFile) { self.file = file }

    mutating func add(_ line: String) throws {
        text += Phrase.printable(line)
        text += "\n"
        if text.utf8.count > 1 << 16 { try flush() }
    }

    mutating func flush() throws {
        try file.write(text: text)
        text = ""
    }
}

/// A list of event kinds on the command line.
struct KindList: ExpressibleByArgument {
    var kinds: Set<EventKind> = []

    /// The kinds as a word of a command line.
    var words: String { kinds.map(\.name).sorted().joined(separator: ",") }

    /// The event kinds, separated by commas, for the help.
    static let names = EventKind.allCases.map(\.name).joined(separator: ", ")

    static var defaultCompletionKind: CompletionKind { .list(EventKind.allCases.map(\.name)) }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        for word in argument.split(separator: ",") {
            guard let kind = EventKind(name: String(word)) else { return nil }
            kinds.insert(kind)
        }
    }
}

/// A time on the command line: a number with its unit.
struct Duration: ExpressibleByArgument {
    let nanoseconds: UInt64
    /// The time as it was written.
    let words: String

    private static let units: [(name: String, nanoseconds: Double)] = [
        ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9),
    ]

    init?(argument: String) {
        guard
            let unit = Self.units.first(where: {
                argument.hasSuffix($0.name) && Double(argument.dropLast($0.name.count)) != nil
            }),
            let number = Double(argument.dropLast(unit.name.count)), number >= 0, number * unit.nanoseconds < 1e18
        else { return nil }
        nanoseconds = UInt64(number * unit.nanoseconds)
        words = argument
    }
}
