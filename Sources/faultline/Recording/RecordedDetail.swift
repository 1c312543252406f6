import ArgumentParser
import FaultlineRecorder

/// Options for how much of a run is recorded.
struct RecordedDetail: ParsableArguments {
    @Flag(
        name: .long,
        help: "Record the values of predicates, which are otherwise left out of the trace; verify uses them.")
    var values = false

    @Flag(
        name: .long,
        help: """
            Record every fault that the row cache fills as an event. By default, those of one fetch, relationship and \
            call stack are counted together, which costs a tenth of the time.
            """)
    var eachFault = false

    /// The environment that asks a program's recorder for this detail.
    var environment: [String: String] {
        var variables: [String: String] = [:]
        if values { variables[RecordingVariable.values.rawValue] = "1" }
        if eachFault { variables[RecordingVariable.eachFault.rawValue] = "1" }
        return variables
    }
}
