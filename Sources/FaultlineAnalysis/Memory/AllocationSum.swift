public import FaultlineTrace

/// A call path of the program that allocated memory, in one scope.
public struct AllocationPath: Sendable, Hashable {
    /// The scope, or `nil` outside any scope.
    public var scope: ScopeSummary.Key?
    /// The program's own functions, innermost first, without lines.
    public var functions: [CallSite]
}

/// The sampled allocations of a call path.
///
/// The sums are estimates from the samples.
public struct AllocationSum: Sendable {
    public internal(set) var samples: UInt64 = 0
    /// The number of allocations.
    public internal(set) var count: UInt64 = 0
    /// The bytes that were allocated.
    public internal(set) var bytes: UInt64 = 0
    /// The bytes that were allocated when the process had the most memory.
    public internal(set) var atPeak: UInt64 = 0
    /// The bytes that were allocated in a scope and were not freed when it ended.
    public internal(set) var kept: UInt64 = 0
    /// The bytes that were not freed until the end of the recording.
    public internal(set) var atEnd: UInt64 = 0
}

/// The memory of a program's processes, as the system counts it.
public struct ProgramMemory: Sendable {
    public internal(set) var readings: UInt64 = 0
    /// The most memory in RAM of one process (RSS), in bytes.
    public internal(set) var resident: UInt64 = 0
    /// The same, with shared pages divided among processes (PSS), in bytes; 0 if it is not known.
    public internal(set) var proportional: UInt64 = 0
}

extension AllocationPath: ProfileKey {
    static var hasSpellings: Bool { true }

    var sortText: String { ([scope?.sortText ?? ""] + functions.map(\.sortText)).joined(separator: "\u{2}") }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([scope.stored(&words)] + functions.map { $0.stored(&words) })
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list()
        guard let first = parts.first else { throw StoredProblem(expected: "a scope and functions") }
        self.init(
            scope: try ScopeSummary.Key?(first, words),
            functions: try parts.dropFirst().map { try CallSite($0, words) })
    }
}

extension AllocationSum: Summed, StartsEmpty {
    static let parts: [SumPart<AllocationSum>] = [
        .sum("samples", \.samples), .sum("count", \.count), .sum("bytes", \.bytes), .sum("atPeak", \.atPeak),
        .sum("kept", \.kept), .sum("atEnd", \.atEnd),
    ]
}

extension ProgramMemory: Summed, StartsEmpty {
    static let parts: [SumPart<ProgramMemory>] = [
        .sum("readings", \.readings), .maximum("resident", \.resident), .maximum("proportional", \.proportional),
    ]
}
