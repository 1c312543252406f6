import ArgumentParser
import FaultlineDocuments
import FaultlineProfile
import FaultlineReport
import FaultlineTrace

/// Prints the call tree of a trace.
struct TreeCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(CallTree.self)
    static let configuration = CommandConfiguration(
        commandName: "tree",
        abstract: "Prints the call tree of a trace.",
        discussion: """
            faultline tree trace.json
            faultline tree trace.json --weight cpu --bottom-up
            faultline tree trace.json --weight rows --by entity
            faultline tree trace.json --scope list --bottom-up
            faultline tree trace.json --format folded | inferno-flamegraph > graph.svg

            A top-down tree leads from the outermost functions to those that ran, and a bottom-up tree from those to their \
            callers. CPU time needs a trace that was recorded with --cpu, and allocations need --allocations; live counts \
            those that were not freed.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @Option(
        name: .long,
        help: "The sum to show: \(Weight.names). Default: cpu or allocations if they were sampled, or else time.")
    var weight: Weight?

    @Flag(name: .long, help: "Begin with the functions that ran.")
    var bottomUp = false

    @Option(name: .long, help: "Divide the tree first by \(Grouping.names).")
    var by: Grouping?

    @Flag(name: .long, help: "Leave out the functions of system libraries, and add their sums to their callers.")
    var hideSystem = false

    @Option(name: .long, help: "Leave out call paths with a smaller share of the whole, in percent.")
    var minShare = 1.0

    @OptionGroup(title: "Selection") var selection: EventSelection<ToOption>

    @OptionGroup var options: AnalysisOptions

    @Option(name: .long, help: ArgumentHelp(OutputFormat<TreeCommand>.help))
    var format = OutputFormat<TreeCommand>.text

    @OptionGroup var file: PrintedFile

    struct Weight: ExpressibleByArgument {
        let weight: CallTreeWeight

        init?(argument: String) {
            guard let weight = CallTreeWeight(rawValue: argument) else { return nil }
            self.weight = weight
        }

        static let allValueStrings = CallTreeWeight.allCases.map(\.rawValue)
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
        static let names = allValueStrings.joined(separator: ", ")
    }

    enum Grouping: String, ExpressibleByArgument, CaseIterable {
        case thread, scope, entity, shape, site

        static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    func validate() throws {
        try checkFormat()
        guard (0...100).contains(minShare) else {
            throw ValidationError("--min-share must be between 0 and 100 percent, not \(minShare).")
        }
    }

    func work() throws {
        let output = try outputFile(CommandInputs([trace, options.thresholds]))
        let (finding, told) = try selection.selectedFinding(in: trace)
        var trace = try LoadedTrace(path: trace)
        for note in trace.notes where !told.contains(note) { Terminal.tell(note) }
        let direction = bottomUp ? CallTree.Direction.bottomUp : .topDown
        let weights = weight.map { [$0.weight] } ?? CallTreeWeight.usual
        var builders = weights.map { CallTreeBuilder($0, direction, hidingLibraries: hideSystem) }
        var processes: [UInt32: Process] = [:]
        var selector = EventSelector(selection, finding: finding)
        let summary = try trace.read { message in
            switch message {
            case .entry(let process, let id, let entry):
                processes[process, default: Process()].insert(entry, id: id)
            case .event(let event):
                guard selector.selects(event, &processes[event.process, default: Process()].names) else { return }
                for index in builders.indices {
                    builders[index].add(
                        event, path: processes[event.process, default: Process()].path(of: event),
                        group: by.map { processes[event.process, default: Process()].group(of: event, by: $0) })
                }
            default: break
            }
        }
        for remark in summary.remarks { Terminal.tell(remark) }
        try selector.tellRemarks()
        let trees = builders.map { $0.finish() }
        // A text without events would only repeat the remark, but other programs expect a document.
        let isSilent = !selector.remarks.isEmpty && renderer.isText
        guard !isSilent, let tree = trees.first(where: { $0.total > 0 }) ?? trees.last else { return }
        let next = NextStep.Input(file: self.trace, options.words + selection.words).flatMap {
            NextStep.after(tree, $0)
        }
        try write(tree, to: output, smallestShare: minShare / 100, next: next)
    }

    /// The names and call paths of a process's events.
    private struct Process {
        var names = ProcessNames()
        private var paths: CallPaths?

        mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) {
            names.insert(entry, id: id)
            paths = nil
        }

        mutating func path(of event: TraceEvent) -> [CodeFunction] {
            var paths = self.paths.take() ?? CallPaths(dictionary: names.dictionary)
            defer { self.paths = paths }
            return paths.functions(of: event)
        }

        mutating func group(of event: TraceEvent, by grouping: Grouping) -> String {
            switch grouping {
            case .thread:
                let name = names.dictionary.thread(event.thread)?.name ?? ""
                return event.isMainThread ? "main thread" : name.isEmpty ? "thread \(event.thread)" : "thread \(name)"
            case .scope: return names.scope(around: event) ?? "outside any scope"
            case .entity:
                let entities = event.detail.entities.compactMap { names.dictionary.entity($0)?.name }
                return entities.isEmpty ? "no entity" : entities.joined(separator: ", ")
            case .shape: return GroupText.shape(of: event, in: names.dictionary) ?? "no request"
            case .site: return names.site(of: event)?.description ?? "unknown call site"
            }
        }
    }
}
