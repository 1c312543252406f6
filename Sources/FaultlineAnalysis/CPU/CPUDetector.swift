internal import FaultlineTrace

/// Sums up the samples of CPU time by part of the program, scope and call path.
struct CPUDetector: EvidenceDetector {
    static let name = "cpu"
    static let kinds: Set<EventKind> = [.cpu]
    /// The most call paths to keep.
    ///
    /// The time of others is kept without its path.
    private static let capacity = 4096

    var evidence: [CPUPath: CPUTime] = [:]
    private var paths: CallPaths?
    /// The parts and functions of samples that were seen before.
    private var known: [Place: Known] = [:]

    private struct Place: Hashable {
        var leaf: DictionaryID
        var stack: DictionaryID
    }

    private struct Known {
        var part: CodePart
        var functions: [CallSite]
    }

    init() {}

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .cpu(let sample) = event.detail else { return }
        let place = place(of: event, sample, in: context)
        var path = CPUPath(part: place.part, scope: context.scopes.peek(event.scope)?.key, functions: place.functions)
        if evidence.count >= Self.capacity, evidence[path] == nil { path.functions = [] }
        evidence[path, default: CPUTime()].samples &+= 1
        evidence[path]?.time &+= sample.weight
    }

    private mutating func place(
        of event: TraceEvent, _ sample: TraceEvent.CPUSample, in context: ProcessContext
    ) -> Known {
        let place = Place(leaf: sample.leaf, stack: event.stack)
        if let found = known[place] { return found }
        var paths = self.paths.take() ?? CallPaths(dictionary: context.dictionary)
        let functions = paths.functions(of: event)
        self.paths = paths
        let own = functions.filter { $0.part == .program }.prefix(CPUPath.length)
        let found = Known(
            part: CodePart(path: functions),
            functions: own.map { CallSite(file: $0.file, line: 0, function: $0.name) })
        known[place] = found
        return found
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        paths = nil
        known = [:]
    }
}
