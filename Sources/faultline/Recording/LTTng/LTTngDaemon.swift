import Foundation

/// An LTTng session daemon that this process started.
struct LTTngDaemon {
    let identifier: pid_t

    /// The seconds that the daemon gets to end.
    ///
    /// It first writes the rest of its buffers.
    private static let patience = 10.0

    /// Starts a daemon for this user's programs, and waits until they can connect to it.
    ///
    /// - Throws: ``CommandFailure`` if the daemon is not installed or does not start.
    init() throws {
        let note = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString).pid")
        defer { try? FileManager.default.removeItem(at: note) }
        // The command returns when the daemon is ready. Kernel events are not needed.
        let problem = try LTTngTool.run(["lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile=\(note.path)"])
        let text = (try? String(contentsOf: note, encoding: .utf8)) ?? ""
        guard problem == nil, let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CommandFailure.tool(
                "LTTng's session daemon does not start (\(problem ?? "it gives no reason")); run \"lttng-sessiond\" "
                    + "to see why."
            )
        }
        self.identifier = identifier
    }

    /// Ends the daemon, and waits for its end.
    func stop() {
        guard kill(identifier, SIGTERM) == 0 else { return }
        let limit = Date(timeIntervalSinceNow: Self.patience)
        // The daemon is not a child of this process, so it cannot be waited for.
        while kill(identifier, 0) == 0, Date() < limit { usleep(10_000) }
    }
}
