internal import CRecorder
internal import Foundation

/// The mapped file of a recorder.
///
/// It is in memory (`/dev/shm`) if possible, since the kernel writes back pages of a file on disk again and again.
struct RingFile {
    let recorder: OpaquePointer
    let path: String

    /// Creates the file and a recorder on it.
    ///
    /// - Parameter tracer: The tracer that also receives every event; `nil` for none.
    /// - Throws: ``RecorderError`` if no directory has room for it, or the directory for rings is gone.
    static func make(for destination: TraceDestination, tracer: UnsafePointer<fl_tracer>?) throws -> RingFile {
        let name = "\(FL_RINGS_PREFIX)\(getpid())-\(UInt32.random(in: 0...UInt32.max))\(FL_RINGS_SUFFIX)"
        let directories: [String]
        switch destination {
        case .rings(let directory): directories = [directory]
        case .timeline(let path):
            directories =
                RecordingVariable.rings.value.map { [$0] } ?? [
                    "/dev/shm", URL(fileURLWithPath: path).deletingLastPathComponent().path,
                ]
        case .lttng: directories = []
        }
        var failure: Int32 = 0
        for directory in directories {
            // Absolute, since the program may change its directory, and the reader of the trace is in yet another.
            let path = URL(fileURLWithPath: directory).appendingPathComponent(name).path
            if let recorder = create(path, tracer, &failure) { return RingFile(recorder: recorder, path: path) }
        }
        if case .rings(let directory) = destination {
            // The recorder removes its directory when it ends.
            if failure == ENOENT { throw RecorderError.tooLate }
            RingDirectory.refuse(in: directory, errno: failure)
        }
        throw RecorderError.noSpace(directories[0], errno: failure)
    }

    private static func create(
        _ path: String, _ tracer: UnsafePointer<fl_tracer>?, _ failure: inout Int32
    ) -> OpaquePointer? {
        var options = RecordingSettings.options()
        options.tracer = tracer
        return path.withCString { path in
            options.rings = path
            let recorder = fl_recorder_create(&options)
            if recorder == nil { failure = errno }
            return recorder
        }
    }

    func remove() {
        unlink(path)
    }
}
