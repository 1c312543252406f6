internal import FaultlineTrace

/// The program's own functions on the call paths of samples, without lines.
struct ProgramPaths: Sendable {
    /// The most call paths that a detector keeps.
    ///
    /// What other paths used is kept without the path.
    static let capacity = 4096
    /// The maximum number of functions that tell paths apart.
    private static let length = 6

    private var paths: CallPaths?
    /// What is known of the samples that were seen before.
    private var known: [Place: Known] = [:]

    private struct Place: Hashable {
        var leaf: DictionaryID
        var stack: DictionaryID
    }

    private struct Known {
        var part: CodePart
        var functions: [CallSite]
    }

    /// The innermost of the program's functions on an event's path.
    mutating func functions(of event: TraceEvent, in dictionary: TraceDictionary) -> [CallSite] {
        place(of: event, in: dictionary).functions
    }

    /// The part of the program that an event's path belongs to.
    mutating func part(of event: TraceEvent, in dictionary: TraceDictionary) -> CodePart {
        place(of: event, in: dictionary).part
    }

    private mutating func place(of event: TraceEvent, in dictionary: TraceDictionary) -> Known {
        var place = Place(leaf: 0, stack: event.stack)
        if case .cpu(let sample) = event.detail { place.leaf = sample.leaf }
        if let found = known[place] { return found }
        var paths = self.paths.take() ?? CallPaths(dictionary: dictionary)
        let functions = paths.functions(of: event)
        self.paths = paths
        let own = functions.filter { $0.part == .program }.prefix(Self.length)
        let found = Known(
            part: CodePart(path: functions),
            functions: own.map { CallSite(file: $0.file, line: 0, function: $0.name) })
        known[place] = found
        return found
    }
}
