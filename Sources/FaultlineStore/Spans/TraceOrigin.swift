import FaultlineRecorder
import FaultlineTrace

/// The call site of a request in the program.
typealias CallerSite = (fileID: StaticString, line: UInt, function: StaticString)

/// The origin of a statement, for the trace.
struct TraceOrigin {
    var context: DictionaryID = 0
    var site: DictionaryID = 0
}

extension ManagedObjectContext {
    /// This context and a call site, for the trace.
    ///
    /// Called only while recording, because it enters both into the trace's dictionary.
    func origin(at site: CallerSite) -> TraceOrigin {
        TraceOrigin(
            context: traceID, site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
    }
}
