internal import FaultlineTrace

/// Sums up the sampled allocations by scope and call path.
struct AllocationDetector: EvidenceDetector {
    static let name = "allocations"
    static let kinds: Set<EventKind> = [.allocation, .scope]

    var evidence: [AllocationPath: AllocationSum] = [:]
    private var paths = ProgramPaths()
    private var heap = LiveHeap<Place>()
    /// The bytes that were allocated in each open scope and are not freed, by call path.
    private var open: [EventID: [AllocationPath: UInt64]] = [:]

    private struct Place: Hashable {
        var path: AllocationPath
        var scope: EventID
    }

    init() {}

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .allocation(let allocation) where allocation.allocation != 0: free(allocation.allocation)
        case .allocation(let allocation): add(allocation, event, in: context)
        case .scope(let scope) where scope.phase == .end:
            for (path, bytes) in open.removeValue(forKey: event.id) ?? [:] { evidence[path]?.kept &+= bytes }
        default: break
        }
    }

    private mutating func free(_ id: EventID) {
        guard let freed = heap.free(id) else { return }
        let kept = open[freed.place.scope]?[freed.place.path] ?? 0
        open[freed.place.scope]?[freed.place.path] = kept - min(kept, freed.bytes)
    }

    private mutating func add(_ allocation: TraceEvent.Allocation, _ event: TraceEvent, in context: ProcessContext) {
        var path = AllocationPath(
            scope: context.scopes.peek(event.scope)?.key,
            functions: paths.path(of: event, in: context.dictionary).functions)
        if evidence.count >= ProgramPaths.capacity, evidence[path] == nil { path.functions = [] }
        heap.allocate(event.id, allocation.bytes, at: Place(path: path, scope: event.scope))
        evidence[path, default: AllocationSum()].samples &+= 1
        evidence[path]?.count &+= allocation.count
        evidence[path]?.bytes &+= allocation.bytes
        if path.scope != nil { open[event.scope, default: [:]][path, default: 0] &+= allocation.bytes }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (place, bytes) in heap.atPeak() { evidence[place.path]?.atPeak &+= bytes }
        for (place, bytes) in heap.live { evidence[place.path]?.atEnd &+= bytes }
        (heap, open, paths) = (LiveHeap(), [:], ProgramPaths())
    }
}

/// Keeps the most memory of each program.
struct ProgramMemoryDetector: EvidenceDetector {
    static let name = "memory"
    static let kinds: Set<EventKind> = [.memory]

    var evidence: [String: ProgramMemory] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .memory(let memory) = event.detail else { return }
        var reading = ProgramMemory()
        (reading.readings, reading.resident, reading.proportional) = (1, memory.resident, memory.proportional)
        add(reading, to: context.summary.program)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// The allocations of the program's call paths, if they were sampled.
    public var allocations: [(path: AllocationPath, sum: AllocationSum)] {
        evidence(of: AllocationDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The memory of each program, by its path, if it was recorded.
    public var programMemory: [(program: String, memory: ProgramMemory)] {
        evidence(of: ProgramMemoryDetector.self).map { ($0.key, $0.evidence) }
    }
}
