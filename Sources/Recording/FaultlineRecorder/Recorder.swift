internal import CLTTngUST
public import CRecorder
internal import CTraceSchema
public import FaultlineTrace
internal import Foundation
internal import Synchronization

// Threads share the state in C through atomics and, for new entries, its own mutex. The Swift side has only constants
// and the state that `memory` guards.

/// Records the work of an instrumented program.
///
/// A program has one recorder that is configured by the environment, ``shared``. Tests create their own, which keep
/// their events in memory. While recording is off, an instrumented operation costs one relaxed load and a branch.
///
/// While it is on, an event costs two clock reads, a walk of the frame pointers and a copy into the thread's own ring.
/// It takes no lock, and allocates nothing once its call stack is known. A full ring drops the new event and counts
/// it; recording never waits for the thread or process that writes the trace.
public final class Recorder: @unchecked Sendable {
    package let handle: OpaquePointer?
    @usableFromInline let state: UnsafePointer<fl_switch>
    private let memory: MemorySink?
    /// The destination of the trace, for messages; `nil` for a recorder in memory and for one that is off.
    private let destination: TraceDestination?
    /// A sentence that names the actual path of the trace if it differs from the requested one, or `nil`.
    let redirection: String?
    /// Whether a fault that the row cache fills is an event of its own; otherwise such faults are counted.
    package let recordsEachFault: Bool
    private let rings: RingFile?
    private let writer: Mutex<Writer?>
    /// A forked child has a copy of the recorder, but does not own its trace.
    private let process = getpid()

    /// The recorder of the program, set up from the environment at the first access.
    ///
    /// `FAULTLINE_TRACE=timeline:PATH` makes it write a JSON timeline to `PATH`, in which `%p` stands for the process
    /// ID; `lttng` makes it fire LTTng's tracepoints, and `timeline:PATH,lttng` does both. See ``TraceDestination``.
    /// Without the variable, recording is off. Faults that the row cache fills are counted and recorded in sums, unless
    /// `FAULTLINE_EACH_FAULT` is set. If the destination cannot be used, the recorder prints one sentence to
    /// stderr and the program runs without recording.
    public static let shared: Recorder = RecordingSettings.fromEnvironment().startRecorder()

    /// Whether events are recorded.
    ///
    /// - Complexity: One relaxed load.
    @inlinable public var isEnabled: Bool {
        // The benchmarks compare with a build in which the compiler removes what only recording needs.
        #if FAULTLINE_UNINSTRUMENTED
        return false
        #else
        return fl_switch_is_on(state)
        #endif
    }

    private init(
        handle: OpaquePointer?, memory: MemorySink? = nil, destination: TraceDestination? = nil,
        redirection: String? = nil, rings: RingFile? = nil, writer: OpaquePointer? = nil,
        eachFault: Bool = RecordingVariable.eachFault.value != nil
    ) {
        self.handle = handle
        recordsEachFault = eachFault
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

    /// Never written after its creation, so any thread may read it.
    nonisolated(unsafe) private static let alwaysOff: UnsafeMutablePointer<fl_switch> = {
        let state = UnsafeMutablePointer<fl_switch>.allocate(capacity: 1)
        state.initialize(to: fl_switch())
        return state
    }()

    /// The writing thread, which the code that takes it out of the lock may stop.
    private struct Writer: @unchecked Sendable {
        let handle: OpaquePointer
    }

    // MARK: - Making recorders

    /// Creates a recorder that records nothing.
    public static func off() -> Recorder {
        Recorder(handle: nil)
    }

    /// Creates a recorder that keeps everything in this process's memory, for tests.
    ///
    /// Until ``messages()`` drains them, its rings are the limit; events that do not fit are counted as lost.
    ///
    /// - Parameters:
    ///   - ringBytes: The size of each thread's ring; 1 MiB by default, which holds about five thousand events.
    ///   - eachFault: Whether every fault that the row cache fills is an event, which is the default. Otherwise such
    ///     faults are counted, as in a trace, and become events when their scope or thread ends.
    public static func memory(ringBytes: Int = 1 << 20, eachFault: Bool = true) -> Recorder {
        var options = fl_recorder_options()
        options.ring_bytes = UInt64(ringBytes)
        guard let handle = fl_recorder_create(&options), let sink = MemorySink(handle) else { return off() }
        return Recorder(handle: handle, memory: sink, eachFault: eachFault)
    }

    /// Creates a recorder that writes to a destination from now on, until ``close()`` or the program's end.
    ///
    /// - Parameters:
    ///   - destination: A file, or LTTng.
    ///   - others: Further destinations for the same events. At most one destination can be a file; the only other is
    ///     LTTng.
    /// - Throws: ``RecorderError`` if the destination cannot be written, if there is no space for the rings, or if
    ///   LTTng is named and the package was built without it. If the disk fills up later, lines are left out and
    ///   counted. If there is no LTTng session, the events go nowhere.
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

    /// Creates a recorder that passes its events to a tracer and keeps none.
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
            // Another program of this recording, or an earlier one, writes or has written there; perhaps this process
            // did before it executed another program. That file stays.
            let isTaken = errno == EEXIST
            while writer == nil, errno == EWOULDBLOCK || errno == EEXIST, attempt < Self.maximumNames {
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
                ? "\"\(named)\" already exists and is kept; this recording goes to \"\(path)\"." : nil
            return Recorder(
                handle: handle, destination: .timeline(path: path), redirection: redirection, rings: rings,
                writer: writer)
        }
    }

    /// The maximum number of names to try for a trace.
    private static let maximumNames = 1000

    /// The path with the process ID before its extension, and from the second attempt on a count after the ID.
    private static func numbered(_ path: String, _ attempt: Int) -> String {
        let url = URL(fileURLWithPath: path)
        let count = attempt > 1 ? "-\(attempt)" : ""
        let name = url.deletingPathExtension().lastPathComponent + "-\(getpid())" + count
        let directory = url.deletingLastPathComponent()
        return directory.appendingPathComponent(name).appendingPathExtension(url.pathExtension).path
    }

    /// Ends the recording: writes the remaining events and closes the trace.
    ///
    /// The program's own recorder does this at exit. In a forked child it does nothing, because the trace belongs to
    /// its parent.
    ///
    /// - Returns: A sentence about what could not be written, or `nil` if everything was.
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

    /// Returns everything that a recorder in memory has recorded since its creation; entries precede the events that
    /// refer to them.
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
