import FaultlineRecorder
import Foundation
import Synchronization

/// The processes of a command that go on in sessions of their own after it has ended, as daemons do.
///
/// Programs that stay in the session of the command, such as those that a shell leaves in the background, are not waited for.
struct Daemons {
    /// The directory that processes of the recording use.
    private let directory: String
    private var identifiers: [pid_t] = []

    /// A signal that ended the wait, or 0.
    private static let interruption = Atomic<Int32>(0)

    /// - Parameter directory: The recording's directory for files of its processes.
    init(using directory: String) {
        self.directory = directory
        identifiers = Self.find(directory)
    }

    /// Whether one of them is running, and no signal has asked to stop waiting.
    ///
    /// - Complexity: O(1) while those that were found are running, and then once O(mappings of all processes).
    mutating func goOn() -> Bool {
        guard Self.interruption.load(ordering: .relaxed) == 0 else { return false }
        identifiers.removeAll(where: ProcessLife.hasEnded)
        if identifiers.isEmpty { identifiers = Self.find(directory) }
        return !identifiers.isEmpty
    }

    /// Reports that the recording goes on, and makes the next signal that would end this process end the wait.
    ///
    /// - Parameter command: The name of the command that has ended.
    func announce(after command: String) {
        for signal in Signals.ending where !Signals.isIgnored(signal) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { Daemons.interruption.store($0, ordering: .relaxed) }
            sigaction(signal, &action, nil)
        }
        let names = identifiers.map { "\(Self.name($0)) (process \($0))" }.joined(separator: ", ")
        Terminal.tell(
            "\"\(command)\" has ended, and \(names) \(identifiers.count == 1 ? "goes" : "go") on in the background. "
                + "Recording continues until then; press Ctrl-C to end it now.")
    }

    /// Restores the signals.
    static func stopListening() {
        for signal in Signals.ending where !Signals.isIgnored(signal) { _ = Foundation.signal(signal, SIG_DFL) }
    }

    // A zombie has no maps, so it is not found.
    private static func find(_ directory: String) -> [pid_t] {
        RingDirectory.users(of: directory).filter { getsid($0) != getsid(0) }
    }

    private static func name(_ identifier: pid_t) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8)) ?? ""
        return text.isEmpty ? "a process" : String(text.dropLast())
    }
}
