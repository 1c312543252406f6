internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// The path that a recording is written to, which protects an earlier trace from an empty or incomplete one.
struct TracePath {
    /// The requested path.
    let wanted: String
    /// The path being written: the requested one, or one beside an earlier trace.
    let written: String

    /// The earlier trace's stamp when the recording began.
    private let earlier: FileStamp?

    /// The maximum number of names to try beside an earlier trace.
    private static let maximumNames = 100

    /// Opens a timeline at the path, or beside an existing file.
    ///
    /// - Throws: ``RecorderError`` if neither can be written.
    static func open(_ path: String) throws -> (position: TracePath, timeline: OpaquePointer) {
        if let timeline = fl_timeline_open(path) {
            return (TracePath(wanted: path, written: path, earlier: nil), timeline)
        }
        guard errno == EEXIST else { throw failure(path) }
        // If the path is a link to the earlier trace, the recording replaces the trace, not the link.
        let path = realPath(path)
        let earlier = FileStamp(path)
        for attempt in 1...maximumNames {
            let beside = name(beside: path, attempt)
            if let timeline = fl_timeline_open(beside) {
                return (TracePath(wanted: path, written: beside, earlier: earlier), timeline)
            }
            // Another recording is being written there, or a killed one left the file.
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

    /// Closes the timeline and moves it to the requested path, unless an earlier trace there is better.
    ///
    /// - Returns: The path of the trace, or `nil` if there is none, and a note for the user.
    func settle(_ timeline: OpaquePointer, isWhole: Bool, isEmpty: Bool) -> (trace: String?, note: String?) {
        guard written != wanted else {
            fl_timeline_close(timeline)
            return (written, nil)
        }
        // The timeline's lock is still held, to keep others from taking either file for the finished trace of another
        // recording.
        defer { fl_timeline_close(timeline) }
        if isEmpty {
            unlink(written)
            return (nil, "\"\(wanted)\" is unchanged: an empty trace replaces nothing.")
        }
        guard FileStamp(wanted) == earlier else {
            return (
                written, "\"\(wanted)\" changed during the recording and is kept; this recording is in \"\(written)\"."
            )
        }
        guard isWhole, rename(written, wanted) == 0 else {
            return (written, "\"\(wanted)\" is unchanged; this recording is in \"\(written)\".")
        }
        return (wanted, nil)
    }
}
