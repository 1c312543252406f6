internal import CRecorder
internal import Foundation

/// What the environment asks of the recorder.
struct RecordingSettings {
    var trace: String?
    /// Whether somebody else tells the user what went wrong, as long as the recording lasts.
    var isSilent = false

    static func fromEnvironment() -> RecordingSettings {
        let trace = RecordingVariable.trace.value
        return RecordingSettings(trace: trace, isSilent: trace?.hasPrefix("rings:") ?? false)
    }

    /// What the environment says of every recorder: the trace's start and the size of rings.
    static func options() -> fl_recorder_options {
        var options = fl_recorder_options()
        options.origin = RecordingVariable.origin.value.flatMap { UInt64($0) } ?? 0
        options.ring_bytes = RecordingVariable.ringBytes.value.flatMap { UInt64($0) } ?? 0
        return options
    }

    /// A recorder as the settings ask; one that is off if they ask for none or it cannot be had, which is told on stderr.
    func startRecorder() -> Recorder {
        guard let trace else { return .off() }
        do {
            let recorder = try Recorder.writing(to: TraceDestination.list(trace))
            closeAtExit()
            if let note = recorder.redirection { tell(note) }
            return recorder
        } catch {
            let isTooLate = (error as? RecorderError)?.code == .tooLate
            RecordingSettings(isSilent: isSilent && !isTooLate).tell("\(error)")
            return .off()
        }
    }

    /// The C library's `exit` is the one place that every ordinary end of a program passes.
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
