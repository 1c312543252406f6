internal import CRecorder
internal import Foundation

/// The recorder's settings from the environment.
struct RecordingSettings {
    var trace: String?
    /// Whether another process reports problems to the user while the recording lasts.
    var isSilent = false

    static func fromEnvironment() -> RecordingSettings {
        let trace = RecordingVariable.trace.value
        return RecordingSettings(trace: trace, isSilent: trace?.hasPrefix("rings:") ?? false)
    }

    /// The settings for every recorder: the trace's start and the size of rings.
    static func options() -> fl_recorder_options {
        var options = fl_recorder_options()
        options.origin = RecordingVariable.origin.value.flatMap { UInt64($0) } ?? 0
        options.ring_bytes = RecordingVariable.ringBytes.value.flatMap { UInt64($0) } ?? 0
        return options
    }

    /// Starts the recorder that the settings describe.
    ///
    /// It is off if they name no destination, or if starting fails, which is reported on stderr.
    func startRecorder() -> Recorder {
        guard let trace else { return .off() }
        fl_stop_observer()
        do {
            let recorder = try Recorder.writing(to: TraceDestination.list(trace))
            closeAtExit()
            if let note = recorder.redirection { tell(note) }
            // Allocations first, because they need the larger ring.
            if let interval = RecordingVariable.allocations.value {
                recorder.sampleAllocations(interval).map { tell($0) }
            }
            if let rate = RecordingVariable.cpu.value { recorder.sampleCPU(rate).map { tell($0) } }
            return recorder
        } catch {
            let isTooLate = (error as? RecorderError)?.code == .tooLate
            RecordingSettings(isSilent: isSilent && !isTooLate).tell("\(error)")
            return .off()
        }
    }

    /// Every normal end of a program goes through the C library's `exit`.
    private func closeAtExit() {
        atexit {
            if let complaint = Recorder.shared.close() { RecordingSettings(isSilent: false).tell(complaint) }
        }
    }

    private func tell(_ sentence: String) {
        guard !isSilent else { return }
        StandardError.write("faultline: \(sentence)\n")
    }
}

/// An environment variable that controls the recording of a program.
package enum RecordingVariable: String, Sendable, CaseIterable {
    case trace = "FAULTLINE_TRACE"
    case origin = "FAULTLINE_ORIGIN"
    case rings = "FAULTLINE_RINGS"
    case ringBytes = "FAULTLINE_RING_BYTES"
    case tried = "FAULTLINE_TRY"
    case values = "FAULTLINE_VALUES"
    case eachFault = "FAULTLINE_EACH_FAULT"
    case cpu = "FAULTLINE_CPU"
    case allocations = "FAULTLINE_ALLOCATIONS"

    /// All environment variables; none in a program that runs with another user's rights.
    package static var environment: [String: String] {
        fl_environment_is_trusted() ? ProcessInfo.processInfo.environment : [:]
    }

    /// The variable's value; `nil` if it is not set or empty.
    ///
    /// Also `nil` in a program that runs with another user's rights (set-uid): the user who starts it must not choose
    /// the files that it writes (`secure_getenv(3)`).
    package var value: String? {
        guard let text = fl_environment(rawValue), text.pointee != 0 else { return nil }
        return String(cString: text)
    }
}
