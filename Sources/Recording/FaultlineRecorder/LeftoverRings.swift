internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// A file of rings that a process left behind, or is still writing.
package struct LeftoverRings: Sendable, Hashable {
    /// The state of the process.
    package enum State: String, Sendable {
        /// The process is recording.
        case running
        /// The process closed its recording.
        case closed
        /// The process ended without closing its recording.
        case killed
    }

    package let file: String
    package let process: UInt32
    /// The program's path.
    package let program: String
    /// The time at which it began to record, in seconds since 1970.
    package let date: Double
    package let state: State
    /// The number of events that are in the rings and in no trace.
    package let events: UInt64
    /// The trace with the earlier events; `nil` if no trace has begun for the process.
    package let trace: String?

    /// Whether the file can be removed without loss, because no process writes it and a trace has all its events.
    package var isSpent: Bool { state != .running && events == 0 }

    /// The default directories for rings, and the one that the environment names.
    package static var directories: [String] {
        let temporary = NSTemporaryDirectory()
        let named = [RecordingVariable.rings.value, temporary.count > 1 ? String(temporary.dropLast()) : temporary]
        var directories = ["/dev/shm"]
        for parent in named.compactMap({ $0 }) + ["/tmp"] where !directories.contains(parent) {
            directories.append(parent)
        }
        return directories
    }

    /// Finds this user's rings in directories, and in the recording directories that they contain.
    package static func find(in directories: [String] = directories) -> [LeftoverRings] {
        files(in: directories).compactMap { LeftoverRings($0) }
    }

    /// Finds this user's ring files that this version cannot read, because another version wrote them.
    package static func findUnreadable(in directories: [String] = directories) -> [String] {
        files(in: directories).filter { file in
            if let drain = fl_drain_open(file, 0) {
                fl_drain_close(drain)
                return false
            }
            return errno == EPROTO
        }
    }

    private static func files(in directories: [String]) -> [String] {
        let files = FileManager.default
        var found: [String] = []
        for parent in directories {
            let paths = ((try? files.contentsOfDirectory(atPath: parent)) ?? []).sorted().map { "\(parent)/\($0)" }
            found += paths.filter(RingDirectory.isRingsName)
            for directory in paths where OwnedDirectory.isName(directory) && isOwn(directory) {
                found += RingDirectory.rings(in: directory).map { "\(directory)/\($0)" }
            }
        }
        return found
    }

    /// Finds the rings of programs whose events a killed `faultline record` would have written to a trace.
    ///
    /// - Parameter trace: The trace's path, under any of its names.
    package static func find(for trace: String, in directories: [String] = directories) -> [LeftoverRings] {
        guard let stamp = FileStamp(trace) else { return [] }
        let claims = directories.flatMap { OwnedDirectory.abandoned(in: $0) }.filter {
            $0.purpose == .rings && FileStamp($0.content).map { $0.isSameFile(as: stamp) } == true
        }
        return claims.flatMap { claim in
            RingDirectory.rings(in: claim.path).compactMap { LeftoverRings("\(claim.path)/\($0)") }
        }
    }

    private static func isOwn(_ directory: String) -> Bool {
        var status = stat()
        return lstat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Examines a file; `nil` if it does not contain rings of this user.
    package init?(_ file: String) {
        guard let drain = fl_drain_open(file, 0) else { return nil }
        defer { fl_drain_close(drain) }
        let about = fl_drain_process(drain)
        self.file = file
        process = about.identifier
        program = String(cString: about.program)
        date = about.date
        state =
            fl_drain_is_closed(drain)
            ? .closed : ProcessLife.hasLeft(about, rings: file) ? .killed : .running
        events = fl_drain_is_ended(drain) ? 0 : fl_drain_pending(drain)
        let trace = String(cString: about.trace)
        self.trace = about.has_begun && !trace.isEmpty ? trace : nil
    }

    /// Removes the file, and its recording directory if it was the last one there.
    package func remove() {
        unlink(file)
        RingDirectory.removeIfEmpty(around: file)
    }
}
