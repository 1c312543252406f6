import ArgumentParser
import FaultlineRecorder

/// Options for how much of a run is recorded.
struct RecordedDetail: ParsableArguments {
    @Flag(
        name: .long,
        help:
            "Record the values of predicates and statements, which are otherwise left out of the trace; verify uses them."
    )
    var values = false

    @Flag(
        name: .long,
        help: """
            Record which columns of SQLite's rows the program reads, in programs without a Faultline store. Each read \
            takes a few nanoseconds longer.
            """)
    var columns = false

    @Flag(
        name: .long,
        help: """
            Record every fault that the row cache fills as an event. By default, those of one fetch, relationship and \
            call stack are counted together, which costs a tenth of the time.
            """)
    var eachFault = false

    @Option(
        name: .long, defaultAsFlag: SamplingNumber.usualRate, parsing: .next,
        help: ArgumentHelp(
            "Sample the call stacks of threads while they use a CPU, HZ times for each second of CPU time.",
            valueName: "HZ"))
    var cpu: SamplingNumber?

    @Option(
        name: .long, defaultAsFlag: SamplingNumber.usualInterval, parsing: .next,
        help: ArgumentHelp(
            """
            Sample allocations, on average one in each BYTES that a thread allocates, and record the process's memory \
            over time.
            """, valueName: "BYTES"))
    var allocations: SamplingNumber?

    @Option(
        name: .customLong("max-size"),
        help: ArgumentHelp(
            "Keep the trace below this size, such as 500M: the oldest events are removed.", valueName: "SIZE"))
    var maximumSize: ByteSize?

    /// The least maximum size, which has room for the names of a program and some thousand events.
    private static let leastSize = ByteSize(argument: "1M")!

    func validate() throws {
        if let maximumSize, maximumSize.bytes < Self.leastSize.bytes {
            throw ValidationError("--max-size takes at least 1M.")
        }
        _ = try samplesPerSecond()
        _ = try bytesPerSample()
    }

    private func samplesPerSecond() throws -> Int? {
        try cpu?.value(
            of: "--cpu", in: 1...10_000, "a number of samples from 1 to 10000 for each second of CPU time")
    }

    private func bytesPerSample() throws -> Int? {
        try allocations?.value(of: "--allocations", in: 1024...1 << 40, "a number of bytes, at least 1024")
    }

    /// The environment that asks a program's recorder for this detail.
    var environment: [String: String] {
        var variables: [String: String] = [:]
        if values { variables[RecordingVariable.values.rawValue] = "1" }
        if eachFault { variables[RecordingVariable.eachFault.rawValue] = "1" }
        if let rate = try? samplesPerSecond() { variables[RecordingVariable.cpu.rawValue] = String(rate) }
        if let bytes = try? bytesPerSample() { variables[RecordingVariable.allocations.rawValue] = String(bytes) }
        return variables
    }
}
