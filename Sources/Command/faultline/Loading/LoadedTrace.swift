import FaultlineFindings
import FaultlineReader
import FaultlineRecorder
import FaultlineReport
import FaultlineTrace
import Foundation

/// A trace on disk that has been completed and resolved, and is ready to be read.
struct LoadedTrace {
    let path: String
    private let reader: TraceReader
    private var reading: TraceReading
    /// Sentences about problems while loading, for stderr.
    private(set) var notes: [String] = []
    /// The number of events that a killed program recorded and that are not in the trace.
    private(set) var missing: UInt64 = 0
    /// Whether the program still writes the trace.
    private var isWritten = false

    /// Opens a trace, and reads its dictionary.
    ///
    /// If its program was killed, the trace is first completed from what the program left behind.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read.
    init(path: String) throws {
        guard !LoadedProfile.isProfile(path) else {
            throw CommandFailure.usage(
                "\"\(path)\" is a profile, which has sums but no events; name the trace that it was made from.")
        }
        self.path = path
        (reader, reading) = try Self.explained(path) {
            let reader = try TraceReader(path: path)
            let title = "reading the names in \(Phrase.fileName(path))"
            return (reader, try ProgressBar.whileReading(title) { try reader.begin() })
        }
        if reader.capabilities.contains(.recovery) { try recover() }
        if reader.capabilities.contains(.symbols) { resolve(writing: !isWritten) }
    }

    /// Passes every message of the trace to `body`, once.
    ///
    /// Meanwhile, no other process can complete the trace or add to it.
    ///
    /// - Parameter showsProgress: Whether to show on a terminal how far the reading is.
    mutating func read(
        showsProgress: Bool = true, _ body: (TraceMessage) throws -> Void
    ) throws -> ReadingSummary {
        let lock = isWritten || !reader.capabilities.contains(.recovery) ? nil : SharedLock(path)
        defer { lock?.release() }
        if lock != nil, reading.isOutdated {
            reading = try Self.explained(path) { try reader.begin() }
            resolve(writing: false)
        }
        return try Self.explained(path) {
            try ProgressBar.whileReading("reading \(Phrase.fileName(path))", isWanted: showsProgress) {
                try reading.read(body)
            }
        }
    }

    /// Checks that the file holds a Faultline trace, without reading its events.
    ///
    /// - Throws: ``CommandFailure`` if it does not.
    func expectNames() throws { try Self.explained(path) { try reading.expectNames() } }

    /// - Throws: ``CommandFailure`` if `body` throws ``ReaderError``.
    static func explained<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ReaderError {
            throw CommandFailure.usage(emptiness(of: path, error) ?? error.message)
        }
    }

    /// A sentence about an empty trace whose events are still in ring buffers, or `nil` if there are none.
    private static func emptiness(of path: String, _ error: ReaderError) -> String? {
        let rings = error.code == .empty ? LeftoverRings.find(for: path).filter { $0.events > 0 } : []
        guard !rings.isEmpty else { return nil }
        let events = rings.reduce(0) { $0 &+ $1.events }
        let waiting = rings.contains { $0.state == .running } ? "wait until its program ends, and " : ""
        let names = rings.map { NextStep.Input.quoted($0.file) }.joined(separator: " ")
        let command = "faultline recover \(names) -o \(NextStep.Input.quoted(path))"
        return "The trace \"\(path)\" is empty because \"faultline record\" was killed, but "
            + "\(Phrase.count(events, "event")) \(events == 1 ? "is" : "are") left in ring buffers; \(waiting)write "
            + "\(events == 1 ? "it" : "them") to the trace with \"\(command)\"."
    }

    private mutating func recover() throws {
        switch TraceRecovery.recover(path, rings: reading.rings) {
        case .nothing: break
        case .recovered(let events):
            if events > 0 {
                notes.append(
                    "the program ended before the trace was complete; the last \(Phrase.count(events, "event")) "
                        + "it had recorded \(events == 1 ? "was" : "were") added to \"\(path)\"")
            }
        case .stillRunning:
            isWritten = true
            notes.append("the program is still running; this is its recording so far")
        // A copy of a trace whose rings are gone lacks nothing that could be recovered.
        case .impossible(_, events: 0): break
        case .impossible(let reason, let events):
            missing = events
            notes.append(
                "\(Phrase.count(events, "event")) left by a program that was killed could not be added to \"\(path)\" (\(reason)); "
                    + "they are kept")
        }
        if !isWritten, reading.isOutdated { reading = try Self.explained(path) { try reader.begin() } }
    }

    /// Resolves the addresses that the recorder left unresolved.
    ///
    /// If this fails, the report lacks names but is still printed.
    ///
    /// - Parameter writing: Whether to write the names to the trace.
    private mutating func resolve(writing: Bool) {
        let resolver = SymbolResolver()
        do {
            let annotator = writing ? TraceAnnotator(reader) : nil
            _ = try Signals.ignoringFileSizeLimit { try reading.resolve(with: resolver, annotator: annotator) }
        } catch let error as ReaderError {
            notes.append(error.message)
        } catch {
            notes.append(String(describing: error))
        }
        for problem in resolver.problems.map(\.description) where !notes.contains(problem) { notes.append(problem) }
    }
}

extension TraceReading {
    /// The ring files that the trace's processes named.
    var rings: [TraceRecovery.NamedRings] {
        processes.filter { !$0.rings.isEmpty }.map {
            TraceRecovery.NamedRings(
                file: $0.rings, process: $0.process, origin: $0.date - Double($0.start) / 1e9)
        }
    }
}

/// A sentence about processes whose end is not in their trace.
enum OpenEnd {
    static func sentence(_ processes: UInt64) -> String? {
        guard processes > 0 else { return nil }
        let what = Phrase.count(processes, "process", plural: "processes")
        return "\(what) \(processes == 1 ? "has" : "have") no end in the trace: the last events are missing."
    }
}

extension ReadingSummary {
    /// Sentences about what is missing from a trace or could not be read.
    var remarks: [String] {
        complaints + [OpenEnd.sentence(UInt64(unendedProcesses.count))].compactMap(\.self)
    }

    /// Sentences about what could not be read.
    var complaints: [String] {
        var complaints: [String] = []
        if malformedLines > 0 {
            let what = Phrase.count(
                UInt64(malformedLines), lines > 0 ? "damaged line" : "damaged event")
            let verb = malformedLines == 1 ? "was" : "were"
            let first = firstMalformed.map { line in
                line.number > 0 ? ", the first in line \(line.number): \(line.reason)" : ": \(line.reason)"
            }
            complaints.append("\(what) \(verb) left out\(first ?? "").")
        }
        if linesNotUnderstood > 0 {
            let what = Phrase.count(UInt64(linesNotUnderstood), "line")
            let first = firstNotUnderstood.map {
                ", the first in line \($0.number): \"\(Phrase.printable($0.reason))\""
            }
            complaints.append(
                "\(what) \(linesNotUnderstood == 1 ? "looks" : "look") like part of the log but could not be "
                    + "parsed\(first ?? "").")
        }
        if repeatedRecordings > 0 {
            let what = Phrase.count(UInt64(repeatedRecordings), "recording")
            complaints.append(
                "\(what) \(repeatedRecordings == 1 ? "begins" : "begin") again in the file, as if traces had been "
                    + "concatenated: events are counted twice.")
        }
        for stream in damagedStreams {
            let what = Phrase.count(UInt64(stream.packets), "damaged packet")
            complaints.append(
                "\(what) of \"\(stream.file)\" \(stream.packets == 1 ? "was" : "were") left out, with the events in "
                    + "\(stream.packets == 1 ? "it" : "them").")
        }
        if lostPackets > 0 {
            let what = Phrase.count(lostPackets, "packet")
            complaints.append(
                "\(what) \(lostPackets == 1 ? "is" : "are") missing in the trace, with an unknown number of events; "
                    + "larger sub-buffers would help.")
        }
        if lostEntries > 0 {
            let what = Phrase.count(lostEntries, "dictionary entry", plural: "dictionary entries")
            complaints.append(
                "LTTng had no room for \(what): names are missing; "
                    + "larger sub-buffers in the dictionary's channel would help.")
        }
        return complaints
    }
}

/// A lock that many readers of a file can hold at once, and that excludes writers.
struct SharedLock {
    private let descriptor: Int32

    /// The number of attempts, one per millisecond.
    ///
    /// Completing a trace takes seconds at most.
    private static let attempts = 60_000

    /// Takes the lock, after waiting for another process that completes the file or adds to it.
    ///
    /// Returns `nil` if the lock is not available, for example because the program that writes the file still runs. The
    /// file is then read as it is.
    init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                self.descriptor = descriptor
                return
            }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(1000)
        }
        close(descriptor)
        return nil
    }

    func release() { close(descriptor) }
}
