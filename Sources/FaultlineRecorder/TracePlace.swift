internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// Where a recording is written, so that an earlier trace at the same path is replaced only by one that is worth it.
struct TracePlace {
    /// Where the trace was asked for.
    let wanted: String
    /// Where it is written: there, or beside an earlier trace that is there.
    let written: String

    /// The earlier trace as it was when the recording began.
    private let earlier: FileStamp?

    /// How many names beside an earlier trace are tried.
    private static let mostNames = 100

    /// Opens a timeline at the path, or beside a file that is there.
    ///
    /// - Throws: ``RecorderError`` if neither can be written.
    static func open(_ path: String) throws -> (place: TracePlace, timeline: OpaquePointer) {
        if let timeline = fl_timeline_open(path) {
            return (TracePlace(wanted: path, written: path, earlier: nil), timeline)
        }
        guard errno == EEXIST else { throw failure(path) }
        // Where a link leads to the earlier trace, that is replaced, and not the link.
        let path = realPath(path)
        let earlier = FileStamp(path)
        for attempt in 1...mostNames {
            let beside = name(beside: path, attempt)
            if let timeline = fl_timeline_open(beside) {
                return (TracePlace(wanted: path, written: beside, earlier: earlier), timeline)
            }
            // Another recording is being written there, or was left there by one that was killed.
            guard errno == EEXIST || errno == EWOULDBLOCK else { throw failure(beside) }
        }
        throw failure(path)
    }

    private static func realPath(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func failure(_ path: String) -> RecorderError {
        errno == EWOULDBLOCK ? .isBeingWritten(path) : .cannotOpen(path, errno: errno)
    }

    /// `trace-recording.json` beside `trace.json`.
    private static func name(beside path: String, _ attempt: Int) -> String {
        let url = URL(fileURLWithPath: path)
        let end = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + "-recording" + (attempt > 1 ? "-\(attempt)" : "") + end
    }

    /// Closes the timeline and puts it where it was asked for, unless an earlier trace there is better.
    ///
    /// - Returns: Where the trace is now, `nil` if there is none; and what there is to say about that.
    func settle(_ timeline: OpaquePointer, isWhole: Bool, isEmpty: Bool) -> (trace: String?, note: String?) {
        guard written != wanted else {
            fl_timeline_close(timeline)
            return (written, nil)
        }
        // Under the timeline's lock, so that nobody else takes either file for a finished trace of another recording.
        defer { fl_timeline_close(timeline) }
        if isEmpty {
            unlink(written)
            return (nil, "\"\(wanted)\" is as it was: an empty trace replaces nothing.")
        }
        guard FileStamp(wanted) == earlier else {
            return (written, "\"\(wanted)\" was changed meanwhile and is kept; this recording is in \"\(written)\".")
        }
        guard isWhole, rename(written, wanted) == 0 else {
            return (written, "\"\(wanted)\" is as it was; this recording is in \"\(written)\".")
        }
        return (wanted, nil)
    }
}
