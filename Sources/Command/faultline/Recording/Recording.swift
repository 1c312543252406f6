import FaultlineReader
import FaultlineRecorder
import FaultlineReplay
import FaultlineTrace
import Foundation

/// A command that ran with recording on.
struct Recording {
    let ending: ChildProcess.Ending
    /// The CPU time of the command, in nanoseconds.
    let cpuTime: UInt64
    /// The outcome of the trace.
    let outcome: TraceCollector.Outcome
    /// Where the trace went.
    let destination: RecordingDestination

    /// The pause before the rings are read again, in microseconds.
    ///
    /// It is short while there is much to read, because a ring holds about ten milliseconds at a million events per
    /// second.
    private static let pauses: (busy: UInt32, idle: UInt32) = (2_000, 10_000)

    /// The possible directories for a recording's rings: shared memory, or else the temporary directory, or else the
    /// trace's.
    static func directories(for output: String) -> [String] {
        ["/dev/shm", NSTemporaryDirectory(), URL(fileURLWithPath: output).deletingLastPathComponent().path]
    }

    /// Runs a command to its end and collects its trace.
    ///
    /// - Parameters:
    ///   - isSilent: Whether the command's output and messages are dropped.
    ///   - advice: Changes to the command's fetches, or `nil` to leave them to the environment.
    ///   - detail: How much of the run to record.
    ///   - progress: The line that shows how the recording goes, if there is one.
    /// - Throws: ``CommandFailure`` if the trace cannot be written or the command cannot be run.
    static func run(
        _ command: [String], to destination: RecordingDestination = .timeline, output: String,
        standardOutput: String? = nil, isSilent: Bool = false, trying advice: [FetchAdvice]? = nil,
        detail: RecordedDetail? = nil, progress: ProgressLine? = nil
    ) throws -> Recording {
        let samplesAllocations = detail?.allocations != nil
        if samplesAllocations { try checkAllocations(command, destination) }
        if detail?.columns == true, PreloadedLibrary.columns.path == nil {
            throw Self.missing(.columns, "records the columns that are read")
        }
        let collector = try destination.taker(output, maximumSize: detail?.maximumSize?.bytes)
        var environment = collector.environment
        // The recorder looks for SQLite's functions in the libraries after its own.
        let before: [PreloadedLibrary] = detail?.columns == true ? [.columns] : []
        let libraries = before + [.recorder] + (samplesAllocations ? [.heap] : [])
        environment.merge(PreloadedLibrary.environment(libraries, linkedIn: collector.scratch)) { $1 }
        if samplesAllocations { (collector as? TraceCollector)?.recordMemory() }
        if let detail { environment.merge(detail.environment) { $1 } }
        if let advice { environment["FAULTLINE_TRY"] = advice.map(\.description).joined(separator: "\n") }
        let child: ChildProcess
        do {
            child = try ChildProcess.start(
                command, environment: environment, standardOutput: standardOutput, isSilent: isSilent)
        } catch {
            collector.discard()
            throw error
        }
        let collect = {
            let events = collector.collect()
            progress?.show(collector.progress)
            usleep(events > 0 ? pauses.busy : pauses.idle)
        }
        var end = child.poll()
        while end == nil {
            collect()
            end = child.poll()
        }
        progress?.clear()
        var daemons = Daemons(using: collector.scratch)
        if daemons.goOn() {
            daemons.announce(after: command[0])
            while daemons.goOn() { collect() }
            progress?.clear()
        }
        let outcome = collector.finish()
        Daemons.stopListening()
        if outcome.processes > 0, let trace = outcome.trace {
            Signals.holdingBack { Signals.ignoringFileSizeLimit { calibrate(trace) } }
        }
        return Recording(ending: end!.ending, cpuTime: end!.cpuTime, outcome: outcome, destination: destination)
    }

    /// - Throws: ``CommandFailure`` if allocations cannot be sampled.
    private static func checkAllocations(_ command: [String], _ destination: RecordingDestination) throws {
        guard destination == .timeline else {
            throw CommandFailure.usage(
                "--allocations records to a timeline only; leave out \"--to \(destination.rawValue)\".")
        }
        guard PreloadedLibrary.heap.path != nil else { throw missing(.heap, "samples allocations") }
        // It ignores blocks of the loader, and would take them for the sampler's.
        if let file = ProgramFile(command: command[0]), let detector = file.leakDetector {
            throw CommandFailure.usage(
                "\"\(command[0])\" is built with a sanitizer that reports leaks (\(detector)), and would report those of "
                    + "libraries in front of its allocator; leave out --allocations.")
        }
    }

    /// - Parameter purpose: The library's work, as in "samples allocations".
    private static func missing(_ library: PreloadedLibrary, _ purpose: String) -> CommandFailure {
        .usage("\(library.name), which \(purpose), is not beside the command; build it with \"make build\".")
    }

    /// Adds the costs of trips and of SQLite's basic steps on this machine to a trace, for the predictions of its
    /// reports.
    ///
    /// If this fails, the trace is kept without them.
    private static func calibrate(_ trace: String) {
        guard let reader = try? TraceReader(path: trace), let entry = try? Calibration.measure() else { return }
        try? TraceAnnotator(reader).add(.calibration(entry), process: UInt32(getpid()))
    }
}

extension Recording {
    /// Prints notes about the trace.
    ///
    /// - Parameters:
    ///   - program: The command's name, for the sentence that nothing was recorded.
    /// - Returns: The trace, or `nil` if there is nothing to report.
    func tell(_ program: String) -> String? {
        for note in outcome.notes + describeCopiesRecordedByHooks() { Terminal.tell(note) }
        let copies = findHiddenCopies()
        for copy in copies { Terminal.tell("Not recorded: \(copy)") }
        guard outcome.processes == 0 else { return outcome.trace }
        if outcome.hasRefusals { return nil }
        Terminal.tell(
            "No process of \"\(program)\" recorded anything: \(reason(program, isExplained: !copies.isEmpty))")
        return nil
    }
}

/// Explains why programs were not recorded, and what to do.
extension Recording {
    /// A sentence about each copy of SQLite, in programs that ended, whose calls could not be seen.
    ///
    /// - Complexity: O(bytes of the programs and their libraries).
    func findHiddenCopies() -> [String] {
        modules { !$0.isRecordedByHooks }.compactMap { path in
            ProgramFile(path: path)?.hiddenSQLite.map { Self.hidden($0, in: path) }
        }
    }

    /// A sentence about each copy of SQLite that was recorded by its hooks, which show less than its functions.
    func describeCopiesRecordedByHooks() -> [String] {
        modules(where: \.isRecordedByHooks).map { path in
            "\(path) contains its own copy of SQLite, which was recorded by its trace hook: the times of statements that "
                + "return several rows are estimates, and errors and preparations are not seen."
        }
    }

    private func modules(where isWanted: (LoadedModule) -> Bool) -> [String] {
        Set(outcome.programs.joined().filter(isWanted).map(\.path)).sorted()
    }

    private static func hidden(_ date: Substring, in path: String) -> String {
        "\(path) contains its own copy of SQLite (of \(date)), whose calls cannot be seen from outside; use a build that is "
            + "linked to libsqlite3."
    }

    /// The reason why no process of a command recorded anything.
    ///
    /// - Parameters:
    ///   - program: The command's name.
    ///   - isExplained: Whether a hidden copy of SQLite was already reported.
    func reason(_ program: String, isExplained: Bool) -> String {
        if let missing = destination.libraries.first(where: { $0.path == nil }) {
            return
                "none uses FaultlineStore, and \(missing.name), which records other programs, is not beside the "
                + "command; build it with \"make build\"."
        }
        let nothing = "no process opened a Faultline store or called SQLite in a shared library."
        guard !isExplained, let file = ProgramFile(command: program) else { return nothing }
        if file.isStatic {
            return
                "\(file.path) is linked statically, so no library can be preloaded into it; link it dynamically, or use "
                + "FaultlineStore."
        }
        if file.isPrivileged {
            return
                "\(file.path) runs with another user's rights, so no library is preloaded into it; run it as that user."
        }
        return file.hiddenSQLite.map { Self.hidden($0, in: file.path) } ?? nothing
    }
}
