import FaultlineTrace

/// The call site of a request in the program.
typealias CallerSite = (fileID: StaticString, line: UInt, function: StaticString)

/// The origin of a statement, for the trace.
package struct TraceOrigin {
    var context: DictionaryID = 0
    var site: DictionaryID = 0
}
