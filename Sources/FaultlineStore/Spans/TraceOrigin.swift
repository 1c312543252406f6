import FaultlineRecorder
import FaultlineTrace

/// Where in the program a request was made.
typealias CallerSite = (fileID: StaticString, line: UInt, function: StaticString)

/// Who asked for a statement, as far as the trace shows it.
struct TraceOrigin {
    var context: DictionaryID = 0
    var site: DictionaryID = 0
}

extension ManagedObjectContext {
    /// This context and a place in the program, for the trace.
    ///
    /// Only to be asked for while something is recorded: it enters both into the trace's dictionary.
    func origin(at site: CallerSite) -> TraceOrigin {
        TraceOrigin(
            context: traceID, site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
    }
}
