import FaultlineReader
import FaultlineRecorder
import FaultlineReplay
import FaultlineTrace
import Foundation

/// A command that was run with recording on.
struct Recording {
    let ending: ChildProcess.Ending
    /// What became of the trace.
    let outcome: TraceCollector.Outcome

    /// How long to wait before looking into the rings again: short while there is much to take, since a ring holds
    /// some ten milliseconds at a million events a second.
    private static let pauses: (busy: UInt32, idle: UInt32) = (2_000, 10_000)

    /// Where the rings of a recording may lie: in memory, or else in the temporary directory, or else beside the trace.
    static func places(for output: String) -> [String] {
        ["/dev/shm", NSTemporaryDirectory(), URL(fileURLWithPath: output).deletingLastPathComponent().path]
    }

    /// Runs a command to its end and takes what it records.
    ///
    /// - Throws: ``CommandFailure`` if the trace cannot be written or the command cannot be run.
    ///
    /// - Parameters:
    ///   - advice: What fetches of the command are to do in another way; `nil`: what the environment says.
    ///   - recordingValues: Whether the trace is to have the values of predicates.
    static func run(
        _ command: [String], to destination: RecordingDestination = .timeline, output: String,
        standardOutput: String? = nil, trying advice: [FetchAdvice]? = nil, recordingValues: Bool = false
    ) throws -> Recording {
        let collector = try destination.taker(output)
        var environment = collector.environment
        if recordingValues { environment["FAULTLINE_VALUES"] = "1" }
        if let advice { environment["FAULTLINE_TRY"] = advice.map(\.description).joined(separator: "\n") }
        let child: ChildProcess
        do {
            child = try ChildProcess.start(
                command, environment: environment, standardOutput: standardOutput)
        } catch {
            collector.discard()
            throw error
        }
        while true {
            let events = collector.collect()
            if let ending = child.poll() {
                let outcome = collector.finish()
                if outcome.processes > 0, let trace = outcome.trace {
                    Signals.holdingBack { Signals.sparingLimitedFiles { calibrate(trace) } }
                }
                return Recording(ending: ending, outcome: outcome)
            }
            usleep(events > 0 ? pauses.busy : pauses.idle)
        }
    }

    /// Adds to a trace what trips to a store and SQLite's basic steps cost on this machine, for the predictions of its reports.
    ///
    /// What fails here costs that, and not the trace.
    private static func calibrate(_ trace: String) {
        guard let reader = try? TraceReader(path: trace), let entry = try? Calibration.measure() else { return }
        try? TraceAnnotator(reader).add(.calibration(entry), process: UInt32(getpid()))
    }
}

extension Recording {
    /// Prints what there is to say about the trace.
    ///
    /// - Parameters:
    ///   - program: The command's name, for the sentence that says that nothing was recorded.
    ///   - isQuiet: Whether to leave that sentence out, since it is not a fault of the recording.
    /// - Returns: The trace; `nil` if there is nothing to report.
    func tell(_ program: String, isQuiet: Bool = false) -> String? {
        for note in outcome.notes { Terminal.tell(note) }
        guard outcome.processes == 0 else { return outcome.trace }
        if isQuiet { return nil }
        Terminal.tell(
            "No process of \"\(program)\" recorded anything; link FaultlineStore into the program and open its store there."
        )
        return nil
    }
}
