import ArgumentParser
import FaultlineProfile
import FaultlineReport
import FaultlineTrace

/// Prints when a trace's events happened.
struct TimelineCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(EventTimeline.self)
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Prints when a trace's events happened, as rows over one time axis.",
        discussion: """
            faultline timeline trace.json
            faultline timeline trace.json --threads
            faultline timeline trace.json --from 1.5s --to 2s
            faultline timeline trace.json --scope list
            faultline timeline trace.json --finding 2

            The height of a block is the share of its column's time that events cover; the lowest block is also shown for \
            events without a duration. Scopes are bands: a solid line covers at least half of a column. The total on the \
            right is the sum of durations, or the highest memory. Events at the same time on several threads count once in \
            a column and each in the total. Times count from the start of the trace, as in --from and --to.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @Flag(name: .long, help: "Give each thread rows of its own.")
    var threads = false

    @OptionGroup(title: "Selection") var selection: EventSelection<ToOption>

    @OptionGroup var options: AnalysisOptions

    @Option(name: .long, help: ArgumentHelp(OutputFormat<TimelineCommand>.help))
    var format = OutputFormat<TimelineCommand>.text

    @OptionGroup var file: PrintedFile

    func work() throws {
        let output = try outputFile(CommandInputs([trace, options.thresholds]))
        let (finding, told) = try selection.selectedFinding(in: trace)
        var trace = try LoadedTrace(path: trace)
        for note in trace.notes where !told.contains(note) { Terminal.tell(note) }
        var processes: [UInt32: ProcessNames] = [:]
        var selector = EventSelector(selection, finding: finding)
        var scopes = EventSelector(selection.ofScopes)
        let extent: TimelineBuilder.Extent =
            selection.isOfAnyKind ? .processes : selection.scope == nil ? .events : .scopes
        var builder = TimelineBuilder(
            from: selection.from?.nanoseconds, to: selection.to?.nanoseconds, dividesThreads: threads, extent: extent)
        let summary = try trace.read { message in
            switch message {
            case .began(let began): builder.add(began)
            case .ended(let ended): builder.add(ended)
            case .entry(let process, let id, let entry):
                processes[process, default: ProcessNames()].insert(entry, id: id)
            case .event(let event):
                let isSelected = selector.selects(event, &processes[event.process, default: ProcessNames()])
                func threadName() -> String {
                    processes[event.process]?.dictionary.thread(event.thread)?.name ?? ""
                }
                guard case .scope(let scope) = event.detail else {
                    if isSelected { builder.add(event, threadName: threadName()) }
                    return
                }
                guard
                    builder.isOpen(event.id, of: event.process)
                        || scopes.selects(event, &processes[event.process, default: ProcessNames()])
                else { return }
                let name = processes[event.process]?.dictionary.name(scope.name) ?? "?"
                builder.add(scope, event, name: name, threadName: threadName())
            case .lost: break
            }
        }
        for remark in summary.remarks { Terminal.tell(remark) }
        try selector.tellRemarks()
        guard selector.remarks.isEmpty, let timeline = builder.finish() else { return }
        let next = NextStep.Input(file: self.trace, options.words + selection.words).map { NextStep.afterTimeline($0) }
        let width = Terminal.output.columns.map { max(60, $0) } ?? 100
        try write(timeline, to: output, width: width, next: next)
    }
}
