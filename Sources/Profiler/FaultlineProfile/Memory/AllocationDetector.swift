package import FaultlineTrace

/// Sums up the sampled allocations by scope and call path.
package struct AllocationDetector: EvidenceDetector {
    package static let name = "allocations"
    package static let kinds: Set<EventKind> = [.allocation, .scope]

    package var evidence: [AllocationPath: AllocationSum] = [:]
    private var paths = ProgramPaths()
    private var heap = LiveHeap<Place>()
    /// The bytes that were allocated in each open scope and are not freed, by call path.
    private var open: [EventID: [AllocationPath: UInt64]] = [:]

    private struct Place: Hashable {
        var path: AllocationPath
        var scope: EventID
    }

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
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

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (place, bytes) in heap.atPeak() { evidence[place.path]?.atPeak &+= bytes }
        for (place, bytes) in heap.live { evidence[place.path]?.atEnd &+= bytes }
        (heap, open, paths) = (LiveHeap(), [:], ProgramPaths())
    }
}

/// Keeps the most memory of each program.
package struct ProgramMemoryDetector: EvidenceDetector {
    package static let name = "memory"
    package static let kinds: Set<EventKind> = [.memory]

    package var evidence: [String: ProgramMemory] = [:]

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        guard case .memory(let memory) = event.detail else { return }
        var reading = ProgramMemory()
        (reading.readings, reading.resident, reading.proportional) = (1, memory.resident, memory.proportional)
        evidence[context.summary.program, default: ProgramMemory()].merge(reading)
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// The allocations of the program's call paths, if they were sampled.
    package var allocations: [(path: AllocationPath, sum: AllocationSum)] {
        evidence(of: AllocationDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The memory of each program, by its path, if it was recorded.
    package var programMemory: [(program: String, memory: ProgramMemory)] {
        evidence(of: ProgramMemoryDetector.self).map { ($0.key, $0.evidence) }
    }
}

/// A call path of the program that allocated memory, in one scope.
package struct AllocationPath: Sendable, Hashable {
    /// The scope, or `nil` outside any scope.
    package var scope: ScopeSummary.Key?
    /// The program's own functions, innermost first, without lines.
    package var functions: [CallSite]
}

/// The sampled allocations of a call path.
///
/// The sums are estimates from the samples.
package struct AllocationSum: Sendable {
    package internal(set) var samples: UInt64 = 0
    /// The number of allocations.
    package internal(set) var count: UInt64 = 0
    /// The bytes that were allocated.
    package internal(set) var bytes: UInt64 = 0
    /// The bytes that were allocated when the process had the most memory.
    package internal(set) var atPeak: UInt64 = 0
    /// The bytes that were allocated in a scope and were not freed when it ended.
    package internal(set) var kept: UInt64 = 0
    /// The bytes that were not freed until the end of the recording.
    package internal(set) var atEnd: UInt64 = 0

    package init() {}
}

/// The memory of a program's processes, as the system counts it.
package struct ProgramMemory: Sendable {
    package internal(set) var readings: UInt64 = 0
    /// The most memory in RAM of one process (RSS), in bytes.
    package internal(set) var resident: UInt64 = 0
    /// The same, with shared pages divided among processes (PSS), in bytes; 0 if it is not known.
    package internal(set) var proportional: UInt64 = 0

    package init() {}
}

extension AllocationPath: ProfileKey {
    package static var hasSpellings: Bool { true }

    package var sortText: String { ([scope?.sortText ?? ""] + functions.map(\.sortText)).joined(separator: "\u{2}") }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([scope.stored(&words)] + functions.map { $0.stored(&words) })
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list()
        guard let first = parts.first else { throw StoredProblem(expected: "a scope and functions") }
        self.init(
            scope: try ScopeSummary.Key?(first, words),
            functions: try parts.dropFirst().map { try CallSite($0, words) })
    }
}

extension AllocationSum: Summed, StartsEmpty {
    package static let parts: [SumPart<AllocationSum>] = [
        .sum("samples", \.samples), .sum("count", \.count), .sum("bytes", \.bytes), .sum("atPeak", \.atPeak),
        .sum("kept", \.kept), .sum("atEnd", \.atEnd),
    ]
}

extension ProgramMemory: Summed, StartsEmpty {
    package static let parts: [SumPart<ProgramMemory>] = [
        .sum("readings", \.readings), .maximum("resident", \.resident), .maximum("proportional", \.proportional),
    ]
}
