internal import CRecorder
internal import Foundation

/// Drains the rings of other processes into one timeline, while they run and when they have ended.
///
/// This is what `faultline record` does beside the command that it runs: a program that records into a directory of
/// rings has nothing to write itself, and what it had recorded when it was killed is still there.
package final class TraceCollector {
    private let timeline: OpaquePointer
    private let path: String
    private let origin: UInt64
    /// CPU time of this thread before it collected anything.
    private let timeBefore: UInt64
    /// The directory in which programs make their rings; the value of `FAULTLINE_TRACE` names it.
    package let directory: String
    private var drains: [String: OpaquePointer] = [:]
    private var ended: Set<String> = []

    /// How many processes have recorded so far.
    package var processCount: Int { drains.count + ended.count }

    /// Makes the directory and begins the timeline.
    ///
    /// - Parameters:
    ///   - path: The timeline; a file that is there stays as it is until something is written.
    ///   - scratch: Directories to try for the rings, in this order; one in memory is best.
    /// - Throws: ``RecorderError`` if the timeline cannot be written or no directory has room.
    package init(path: String, scratch: [String] = ["/dev/shm", NSTemporaryDirectory()]) throws {
        guard let timeline = fl_timeline_open(path, 0) else {
            throw errno == EWOULDBLOCK ? RecorderError.isBeingWritten(path) : .cannotOpen(path, errno: errno)
        }
        guard let directory = Self.makeDirectory(in: scratch) else {
            let failure = errno
            fl_timeline_discard(timeline)
            throw RecorderError.noSpace(scratch.first ?? "", errno: failure)
        }
        self.timeline = timeline
        self.path = path
        self.directory = directory
        origin = fl_now()
        timeBefore = Self.threadTime()
    }

    /// What a program needs in its environment to be recorded here.
    package var environment: [String: String] {
        ["FAULTLINE_TRACE": "rings:\(directory)", "FAULTLINE_ORIGIN": String(origin)]
    }

    /// Room for the rings of a few threads; a directory with less is passed over.
    private static let leastSpace: UInt64 = 32 << 20

    private static func makeDirectory(in candidates: [String]) -> String? {
        var failure = ENOSPC
        for candidate in candidates {
            var status = statvfs()
            guard statvfs(candidate, &status) == 0 else {
                failure = errno
                continue
            }
            guard UInt64(status.f_bavail) * UInt64(status.f_frsize) >= leastSpace else { continue }
            var template = Array((candidate + "/faultline-XXXXXX").utf8CString)
            if mkdtemp(&template) != nil {
                return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
            failure = errno
        }
        errno = failure
        return nil
    }

    /// Takes in what has been recorded since the last time.
    ///
    /// - Returns: The number of events, from which a caller can tell how soon to come again.
    @discardableResult
    package func collect() -> UInt64 {
        findNewRings()
        return drains.values.reduce(0) { $0 + fl_timeline_drain(timeline, $1) }
    }

    private func findNewRings() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names.sorted() where name.hasSuffix(".rings") && drains[name] == nil && !ended.contains(name) {
            let rings = directory + "/" + name
            // A file that is not whole yet is none of ours yet.
            guard let drain = fl_drain_open(rings, origin) else { continue }
            fl_timeline_begin_process(timeline, drain, rings)
            drains[name] = drain
        }
    }

    private static func threadTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// What became of a trace.
    package struct Outcome: Sendable {
        /// How many processes recorded.
        package var processes: Int
        /// A sentence about what could not be written; `nil` if all of it was.
        package var complaint: String?
    }

    /// Ends without a trace: the file is as it was, or not there if it was not.
    ///
    /// Only as long as nothing was collected.
    package func discard() {
        fl_timeline_discard(timeline)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Takes in the rest, closes the timeline and removes the rings.
    package func finish() -> Outcome {
        collect()
        let processes = drains.count
        let writing = (Self.threadTime() - timeBefore) / UInt64(max(processes, 1))
        for (name, drain) in drains.sorted(by: { $0.key < $1.key }) {
            fl_timeline_end_process(timeline, drain, fl_drain_is_closed(drain), fl_now(), writing)
            fl_drain_close(drain)
            ended.insert(name)
        }
        drains = [:]
        var failure: Int32 = 0
        let unwritten = fl_timeline_close(timeline, &failure)
        try? FileManager.default.removeItem(atPath: directory)
        let complaint = unwritten == 0 ? nil : RecorderError.incomplete(path, lines: unwritten, errno: failure).message
        return Outcome(processes: processes, complaint: complaint)
    }
}
