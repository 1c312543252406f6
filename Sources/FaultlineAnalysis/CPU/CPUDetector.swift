public import FaultlineTrace

/// Sums up the samples of CPU time by part of the program, scope and call path.
struct CPUDetector: EvidenceDetector {
    static let name = "cpu"
    static let kinds: Set<EventKind> = [.cpu]

    var evidence: [CPUPath: CPUTime] = [:]
    private var paths = ProgramPaths()

    init() {}

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .cpu(let sample) = event.detail else { return }
        let known = paths.path(of: event, in: context.dictionary)
        var path = CPUPath(
            part: known.part, scope: context.scopes.peek(event.scope)?.key, functions: known.functions)
        if evidence.count >= ProgramPaths.capacity, evidence[path] == nil { path.functions = [] }
        evidence[path, default: CPUTime()].samples &+= 1
        evidence[path]?.time &+= sample.weight
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        paths = ProgramPaths()
    }
}

extension Profile {
    /// The CPU time of the program's call paths, if it was sampled.
    public var cpuTimes: [(path: CPUPath, time: CPUTime)] {
        evidence(of: CPUDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The sampled CPU time of each part of the program, in nanoseconds.
    public var cpuTimeByPart: [CodePart: UInt64] {
        cpuTimes.reduce(into: [:]) { $0[$1.path.part, default: 0] &+= $1.time.time }
    }
}
