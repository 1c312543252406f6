internal import CRecorder
internal import Foundation

/// The mapped file of a recorder: where it lies and when it goes.
///
/// It lies in memory (`/dev/shm`) if it can, since a page of a disk's file is written back again and again.
struct RingFile {
    let recorder: OpaquePointer
    let path: String

    /// Makes the file and a recorder on it.
    ///
    /// - Parameter tracer: Who is handed everything beside; `nil`: nobody.
    /// - Throws: ``RecorderError`` if no directory has room for it, or the directory for rings is gone.
    static func make(for destination: TraceDestination, tracer: UnsafePointer<fl_tracer>?) throws -> RingFile {
        let name = "\(getpid())-\(UInt32.random(in: 0...UInt32.max)).rings"
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
            // Absolute, since the program may go to another directory, and whoever reads the trace is in a third.
            let path = URL(fileURLWithPath: directory).appendingPathComponent("faultline-" + name).path
            if let recorder = create(path, tracer, &failure) { return RingFile(recorder: recorder, path: path) }
        }
        if case .rings(let directory) = destination {
            // The recorder removes its directory when it ends.
            if failure == ENOENT { throw RecorderError.tooLate }
            RingDirectory.refuse(in: directory)
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
