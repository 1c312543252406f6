internal import Foundation

/// Where a recording goes.
public enum TraceDestination: Sendable, Hashable {
    /// A JSON timeline at a path. Written by a thread of the program.
    case timeline(path: String)
    /// The mapped file alone, in a directory where another process drains it: what `faultline record` asks for.
    case rings(directory: String)

    /// The destination that `timeline:PATH` or `rings:DIRECTORY` names; `%p` in a path stands for the process's number.
    ///
    /// - Throws: ``RecorderError`` for any other text.
    public init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { throw RecorderError.badDestination(text) }
        let path = parts[1].replacingOccurrences(of: "%p", with: String(getpid()))
        switch parts[0] {
        case "timeline": self = .timeline(path: path)
        case "rings": self = .rings(directory: path)
        default: throw RecorderError.badDestination(text)
        }
    }
}

/// What the environment asks of the recorder.
struct RecordingSettings {
    var trace: String?
    /// Whether somebody else tells the user what went wrong.
    var isSilent = false

    static func fromEnvironment() -> RecordingSettings {
        let environment = ProcessInfo.processInfo.environment
        let trace = environment["FAULTLINE_TRACE"].flatMap { $0.isEmpty ? nil : $0 }
        return RecordingSettings(trace: trace, isSilent: trace?.hasPrefix("rings:") ?? false)
    }

    /// A recorder as the settings ask; one that is off if they ask for none or it cannot be had, which is told on stderr.
    func startRecorder() -> Recorder {
        guard let trace else { return .off() }
        do {
            let recorder = try Recorder.writing(to: TraceDestination(trace))
            closeAtExit()
            return recorder
        } catch {
            tell("\(error)")
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
