internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The parts that reports of sampled CPU time and of sampled allocations share.
enum SampleText {
    /// The maximum number of scopes and of call paths, unless all are asked for.
    static let rows = 5
    /// The most functions of a call path that are shown.
    fileprivate static let functions = 4

    static func name(_ scope: ScopeSummary.Key) -> String { "\(scope.name) (\(scope.kind))" }

    /// The line for rows that a table leaves out, or no line if there are none.
    static func rest(_ count: Int, _ noun: String, _ ink: Ink) -> [String] {
        count > 0 ? ["  " + ink(.dim, "(\(Phrase.count(UInt64(count), "more " + noun)))")] : []
    }
}

/// The functions of a sample's call path, innermost first.
extension [CallSite] {
    /// The functions that a text shows, which stand for all paths that begin with them.
    var shown: [CallSite] { Array(prefix(SampleText.functions)) }

    /// `inner ← outer ← main`.
    var callPath: String { map(\.function).joined(separator: " ← ") }
}
