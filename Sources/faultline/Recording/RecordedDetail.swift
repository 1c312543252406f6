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

    @Option(
        name: .long, defaultAsFlag: SamplingRate.usual, parsing: .next,
        help: ArgumentHelp(
            "Sample the call stacks of threads while they use a CPU, HZ times for each second of CPU time.",
            valueName: "HZ"))
    var cpu: SamplingRate?

    @Option(
        name: .long, defaultAsFlag: SamplingInterval.usual, parsing: .next,
        help: ArgumentHelp(
            """
            Sample allocations, on average one in each BYTES that a thread allocates, and record the process's memory \
            over time.
            """, valueName: "BYTES"))
    var allocations: SamplingInterval?

    func validate() throws {
        _ = try cpu?.samplesPerSecond()
        _ = try allocations?.bytes()
    }

    /// The environment that asks a program's recorder for this detail.
    var environment: [String: String] {
        var variables: [String: String] = [:]
        if values { variables[RecordingVariable.values.rawValue] = "1" }
        if eachFault { variables[RecordingVariable.eachFault.rawValue] = "1" }
        if let rate = try? cpu?.samplesPerSecond() { variables[RecordingVariable.cpu.rawValue] = String(rate) }
        if let bytes = try? allocations?.bytes() { variables[RecordingVariable.allocations.rawValue] = String(bytes) }
        return variables
    }
}
