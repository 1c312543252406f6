import ArgumentParser
import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineTrace
import Foundation

/// Writes a trace in the format of another tool.
struct ExportCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a trace in the format of another tool.",
        discussion: """
            faultline export app.log --to timeline -o timeline.json
            faultline export trace.json --to speedscope -o profile.speedscope.json
            faultline export trace.json --to folded --weight rows --scope list -o rows.txt

            A timeline shows each thread's events over time, whatever the trace's own format is. The spans of otlp are \
            its scopes and operations. The other formats have the call paths, with the sums of the weights that the \
            trace has; --weight selects one.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @Option(name: .customLong("to"), help: ArgumentHelp(TraceExporters.help))
    var format: Format

    @Option(
        name: .shortAndLong, help: "The file to write, or - for standard output. An earlier output is replaced.",
        completion: .file())
    var output: String

    @Flag(name: .long, help: "Replace any file that the command does not read.")
    var force = false

    @Option(name: .long, help: "The sum of each call path: \(TreeCommand.Weight.names).")
    var weight: TreeCommand.Weight?

    @OptionGroup(title: "Selection") var selection: EventSelection<UntilOption>

    @OptionGroup var options: AnalysisOptions

    /// The value of `--to`: one of ``TraceExporters/all``.
    struct Format: ExpressibleByArgument {
        let exporter: any TraceExporter.Type

        init?(argument: String) {
            guard let exporter = TraceExporters.all.first(where: { $0.name == argument }) else { return nil }
            self.exporter = exporter
        }

        static var allValueStrings: [String] { TraceExporters.all.map { $0.name } }
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    }

    func validate() throws {
        guard weight != nil, !format.exporter.takesWeight else { return }
        let names = TraceExporters.all.filter { $0.takesWeight }.map { $0.name }.joined(separator: ", ")
        throw ValidationError("--weight is for the formats of call paths: \(names).")
    }

    func work() throws {
        let inputs = CommandInputs([trace, options.thresholds])
        let output = try OutputFile(output, .export, inputs: inputs, isForced: force)
        let (finding, told) = try selection.selectedFinding(in: trace)
        var trace = try LoadedTrace(path: trace)
        for note in trace.notes where !told.contains(note) { Terminal.tell(note) }
        // An incomplete file would be misleading, so it has no name until it is finished.
        let file = try output.begin()
        try write(&trace, finding, to: file)
        try file.finish()
    }

    private func write(_ trace: inout LoadedTrace, _ finding: Finding?, to file: UnfinishedFile) throws {
        var exporter = format.exporter.init(ExportOptions(weight: weight?.weight))
        // A file that weighs nothing says nothing.
        var weighed = weight.map { CallTreeBuilder($0.weight) }
        var processes: [UInt32: ProcessNames] = [:]
        var selector = EventSelector(selection, finding: finding)
        var buffer = ExportBuffer()
        let summary = try trace.read { message in
            if case .entry(let process, let id, let entry) = message {
                processes[process, default: ProcessNames()].insert(entry, id: id)
            }
            if case .event(let event) = message,
                !selector.selects(event, &processes[event.process, default: ProcessNames()])
            {
                return
            }
            if case .event(let event) = message { weighed?.add(event, path: []) }
            exporter.add(message, to: &buffer)
            if buffer.bytes.count > 1 << 16 {
                try file.write(buffer.bytes)
                buffer.removeAll()
            }
        }
        exporter.finish(&buffer)
        try file.write(buffer.bytes)
        if let weight = weight?.weight, let weighed = weighed?.finish(), weighed.total == 0, selector.remarks.isEmpty {
            throw CommandFailure.usage(
                "The trace has nothing of the weight \(weight.rawValue) to export; \"faultline tree\" prints the weights "
                    + "that it has.")
        }
        for remark in summary.remarks { Terminal.tell(remark) }
        if !selector.remarks.isEmpty { throw CommandFailure.usage(selector.remarks.joined(separator: " ")) }
    }
}
