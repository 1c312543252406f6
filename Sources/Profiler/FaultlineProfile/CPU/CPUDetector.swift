package import FaultlineTrace

/// Sums up the samples of CPU time by part of the program, scope and call path.
package struct CPUDetector: EvidenceDetector {
    package static let name = "cpu"
    package static let kinds: Set<EventKind> = [.cpu]

    package var evidence: [CPUPath: CPUTime] = [:]
    private var paths = ProgramPaths()

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        guard case .cpu(let sample) = event.detail else { return }
        let known = paths.path(of: event, in: context.dictionary)
        var path = CPUPath(
            part: known.part, scope: context.scopes.peek(event.scope)?.key, functions: known.functions)
        if evidence.count >= ProgramPaths.capacity, evidence[path] == nil { path.functions = [] }
        evidence[path, default: CPUTime()].samples &+= 1
        evidence[path]?.time &+= sample.weight
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        paths = ProgramPaths()
    }
}

extension Profile {
    /// The CPU time of the program's call paths, if it was sampled.
    package var cpuTimes: [(path: CPUPath, time: CPUTime)] {
        evidence(of: CPUDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The sampled CPU time of each part of the program, in nanoseconds.
    package var cpuTimeByPart: [CodePart: UInt64] {
        cpuTimes.reduce(into: [:]) { $0[$1.path.part, default: 0] &+= $1.time.time }
    }
}

/// A call path of the program that used CPU time, in one scope.
package struct CPUPath: Sendable, Hashable {
    /// The part of the program whose code ran.
    package var part: CodePart
    /// The scope, or `nil` outside any scope.
    package var scope: ScopeSummary.Key?
    /// The program's own functions, innermost first, without lines: the first one is, or called, the code that ran.
    package var functions: [CallSite]
}

/// The samples of a call path.
package struct CPUTime: Sendable {
    package internal(set) var samples: UInt64 = 0
    /// The CPU time that the samples represent, in nanoseconds.
    package internal(set) var time: UInt64 = 0

    package init() {}
}

extension CPUPath: ProfileKey {
    package static var hasSpellings: Bool { true }

    package var sortText: String {
        ([part.rawValue, scope?.sortText ?? ""] + functions.map(\.sortText)).joined(separator: "\u{2}")
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([part.stored(&words), scope.stored(&words)] + functions.map { $0.stored(&words) })
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list()
        guard parts.count >= 2 else { throw StoredProblem(expected: "a part, a scope and functions") }
        self.init(
            part: try CodePart(parts[0], words), scope: try ScopeSummary.Key?(parts[1], words),
            functions: try parts.dropFirst(2).map { try CallSite($0, words) })
    }
}

extension CodePart: WordKey {}

extension CPUTime: Summed, StartsEmpty {
    package static let parts: [SumPart<CPUTime>] = [.sum("samples", \.samples), .sum("time", \.time)]
}

/// The program's own functions on the call paths of samples, without lines.
struct ProgramPaths: Sendable {
    /// The most call paths that a detector keeps.
    ///
    /// Samples of further paths are kept without their path.
    static let capacity = 4096
    /// The maximum number of functions that distinguish paths.
    private static let length = 6

    private var paths: CallPaths?
    /// The paths of the samples that were seen before.
    private var known: [Place: Path] = [:]

    private struct Place: Hashable {
        var leaf: DictionaryID
        var stack: DictionaryID
    }

    /// A call path, as far as the program's code is concerned.
    struct Path: Sendable {
        /// The part of the program that it belongs to.
        var part: CodePart
        /// The innermost of the program's functions on it.
        var functions: [CallSite]
    }

    mutating func path(of event: TraceEvent, in dictionary: TraceDictionary) -> Path {
        var place = Place(leaf: 0, stack: event.stack)
        if case .cpu(let sample) = event.detail { place.leaf = sample.leaf }
        if let found = known[place] { return found }
        var paths = self.paths.take() ?? CallPaths(dictionary: dictionary)
        let functions = paths.functions(of: event)
        self.paths = paths
        let own = functions.filter { $0.part == .program }.prefix(Self.length)
        let found = Path(
            part: CodePart(path: functions),
            functions: own.map { CallSite(file: $0.file, line: 0, function: $0.name) })
        known[place] = found
        return found
    }
}
