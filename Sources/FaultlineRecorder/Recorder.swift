internal import CLTTngUST
public import CRecorder
internal import CTraceSchema
public import FaultlineTrace
internal import Foundation
internal import Synchronization

/// Records what an instrumented program does.
///
/// A program has one recorder that the environment sets up, ``shared``; tests make their own, which keep what they
/// record in memory. While recording is off, an instrumented operation costs one relaxed load and a branch.
///
/// While it is on, an event is two clock reads, a walk of the frame pointers and a copy into a ring of the thread's
/// own: no lock is taken, and nothing is allocated once a call stack was seen. A ring that is full loses the new
/// event and counts it; recording never waits for whoever writes the trace.
// The state in C is shared between threads by atomics and, where entries are added, by its own mutex; the Swift side
// holds constants and what `memory` guards.
public final class Recorder: @unchecked Sendable {
    package let handle: OpaquePointer?
    @usableFromInline let state: UnsafePointer<fl_switch>
    private let memory: MemorySink?
    /// Where the trace goes, for messages; `nil` for a recorder in memory and for one that is off.
    private let destination: TraceDestination?
    /// Where the trace goes instead of where it was to go, in a sentence; `nil`: it goes there.
    let redirection: String?
    private let rings: RingFile?
    private let writer: Mutex<Writer?>
    /// A child that is forked has a copy of the recorder, and none of its trace.
    private let process = getpid()

    /// The recorder of the program, set up from the environment when it is first asked for.
    ///
    /// `FAULTLINE_TRACE=timeline:PATH` makes it write a JSON timeline to `PATH`, in which `%p` stands for the process's
    /// number; `lttng` makes it fire LTTng's tracepoints, and `timeline:PATH,lttng` does both. See ``TraceDestination``.
    /// Without the variable, recording is off. A destination that cannot be used is
    /// told on stderr in one sentence, and the program runs on without recording.
    public static let shared: Recorder = RecordingSettings.fromEnvironment().startRecorder()

    /// Whether events are recorded.
    ///
    /// - Complexity: one relaxed load.
    @inlinable public var isEnabled: Bool { fl_switch_is_on(state) }

    private init(
        handle: OpaquePointer?, memory: MemorySink? = nil, destination: TraceDestination? = nil,
        redirection: String? = nil, rings: RingFile? = nil, writer: OpaquePointer? = nil
    ) {
        self.handle = handle
        self.state = handle.map { fl_recorder_switch($0) } ?? UnsafePointer(Self.alwaysOff)
        self.destination = destination
        self.redirection = redirection
        self.memory = memory
        self.rings = rings
        self.writer = Mutex(writer.map { Writer(handle: $0) })
        if let handle { fl_recorder_enable(handle) }
    }

    deinit {
        if let handle {
            fl_recorder_close(handle)
            fl_recorder_release(handle)
        }
    }

    /// Never written after it is made, so any thread may read it.
    nonisolated(unsafe) private static let alwaysOff: UnsafeMutablePointer<fl_switch> = {
        let state = UnsafeMutablePointer<fl_switch>.allocate(capacity: 1)
        state.initialize(to: fl_switch(on: 0))
        return state
    }()

    /// The thread that writes, which whoever takes it out of the lock may stop.
    private struct Writer: @unchecked Sendable {
        let handle: OpaquePointer
    }

    // MARK: - Making recorders

    /// A recorder that records nothing.
    public static func off() -> Recorder {
        Recorder(handle: nil)
    }

    /// A recorder that keeps everything in this process's memory, for tests.
    ///
    /// It holds as much as its rings do until ``messages()`` takes it out; what does not fit is counted as lost.
    ///
    /// - Parameter ringBytes: The size of each thread's ring; by default 1 MiB, which holds some five thousand events.
    public static func memory(ringBytes: Int = 1 << 20) -> Recorder {
        var options = fl_recorder_options()
        options.ring_bytes = UInt64(ringBytes)
        guard let handle = fl_recorder_create(&options), let sink = MemorySink(handle) else { return off() }
        return Recorder(handle: handle, memory: sink)
    }

    /// A recorder that writes to a destination from now on, until ``close()`` or the program's end.
    ///
    /// - Parameter others: further destinations, to which the same events go. One file and LTTng are the most there can be.
    /// - Throws: ``RecorderError`` if the destination cannot be written or the space for the rings cannot be had, or if
    ///   LTTng is named and the package was built without it. Not when the disk fills up later: then lines are left out and
    ///   counted. Not when there is no session of LTTng either: then nobody listens.
    public static func writing(to destination: TraceDestination, _ others: TraceDestination...) throws -> Recorder {
        try writing(to: [destination] + others)
    }

    static func writing(to destinations: [TraceDestination]) throws -> Recorder {
        var tracer: UnsafePointer<fl_tracer>?
        if destinations.contains(.lttng) {
            var problem = [CChar](repeating: 0, count: 512)
            tracer = fl_lttng_tracer(&problem, problem.count)
            if tracer == nil { throw RecorderError.withoutLTTng(problem) }
        }
        let files = destinations.filter { $0 != .lttng }
        guard files.count <= 1 else { throw RecorderError.twoFiles }
        guard let file = files.first else { return try tracing(tracer) }
        return try writing(to: file, tracer: tracer)
    }

    /// A recorder whose events are handed to a tracer and kept nowhere.
    private static func tracing(_ tracer: UnsafePointer<fl_tracer>?) throws -> Recorder {
        var options = RecordingSettings.options()
        options.tracer = tracer
        options.is_traced_only = true
        guard let handle = fl_recorder_create(&options) else { throw RecorderError.noMemory(errno: errno) }
        return Recorder(handle: handle, destination: .lttng)
    }

    private static func writing(
        to destination: TraceDestination, tracer: UnsafePointer<fl_tracer>?
    ) throws -> Recorder {
        let rings = try RingFile.make(for: destination, tracer: tracer)
        let handle = rings.recorder
        switch destination {
        case .rings, .lttng:
            return Recorder(handle: handle, destination: destination, rings: rings)
        case .timeline(let path):
            let named = path
            var (path, attempt) = (named, 0)
            var writer = fl_writer_start(handle, path, rings.path)
            // A program that this one was started by writes there, or something is there, perhaps the recording of this
            // process before it ran another program. It stays.
            let isTaken = errno == EEXIST
            while writer == nil, errno == EWOULDBLOCK || errno == EEXIST, attempt < Self.mostNames {
                attempt += 1
                path = Self.numbered(named, attempt)
                writer = fl_writer_start(handle, path, rings.path)
            }
            guard let writer else {
                let failure = errno
                rings.remove()
                fl_recorder_release(handle)
                throw RecorderError.cannotOpen(path, errno: failure)
            }
            let redirection =
                isTaken && attempt > 0
                ? "\"\(named)\" is there already and stays; this recording goes to \"\(path)\"." : nil
            return Recorder(
                handle: handle, destination: .timeline(path: path), redirection: redirection, rings: rings,
                writer: writer)
        }
    }

    /// How many names are tried for a trace.
    private static let mostNames = 1000

    /// The path with the process's number before its extension, and from the second attempt on a count behind it.
    private static func numbered(_ path: String, _ attempt: Int) -> String {
        let url = URL(fileURLWithPath: path)
        let count = attempt > 1 ? "-\(attempt)" : ""
        let name = url.deletingPathExtension().lastPathComponent + "-\(getpid())" + count
        let directory = url.deletingLastPathComponent()
        return directory.appendingPathComponent(name).appendingPathExtension(url.pathExtension).path
    }

    /// Ends the recording: writes what is left and closes the trace.
    ///
    /// The program's own recorder does this at exit. In a child that was forked it does nothing: the trace is its parent's.
    ///
    /// - Returns: A sentence about what could not be written, or `nil` if all of it was.
    @discardableResult
    public func close() -> String? {
        guard let handle, process == getpid() else { return nil }
        fl_recorder_close(handle)
        guard case .timeline(let path)? = destination else { return nil }
        return writer.withLock { writer in
            guard let running = writer else { return nil }
            writer = nil
            var (unwritten, failure) = (UInt64(0), Int32(0))
            guard fl_writer_stop(running.handle, &unwritten, &failure) else {
                return RecorderError.unfinished(path).message
            }
            rings?.remove()
            guard unwritten > 0 else { return nil }
            return RecorderError.incomplete(path, lines: unwritten, errno: failure).message
        }
    }

    /// What a recorder in memory has recorded since it was made: entries before the events that refer to them.
    ///
    /// Empty for every other recorder.
    public func messages() -> [TraceMessage] {
        memory?.messages() ?? []
    }

    /// The events among ``messages()``.
    public func events() -> [TraceEvent] {
        messages().compactMap {
            guard case .event(let event) = $0 else { return nil }
            return event
        }
    }
}
