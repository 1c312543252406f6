internal import FaultlineTrace

/// The program's own functions on the call paths of samples, without lines.
struct ProgramPaths: Sendable {
    /// The most call paths that a detector keeps.
    ///
    /// Samples of further paths are kept without their path.
    static let capacity = 4096
    /// The maximum number of functions that tell paths apart.
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
