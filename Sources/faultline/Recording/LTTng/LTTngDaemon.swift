import Foundation

/// A session daemon of LTTng that was started here.
struct LTTngDaemon {
    let identifier: pid_t

    /// How long the daemon gets to end: it writes what is left in its buffers first.
    private static let patience = 10.0

    /// Starts a daemon for this user's programs, and waits until they can reach it.
    ///
    /// - Throws: ``CommandFailure`` if it is not installed or does not start.
    init() throws {
        let note = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString).pid")
        defer { try? FileManager.default.removeItem(at: note) }
        // It returns when the daemon is ready. Events of the kernel are none of its business.
        let problem = try LTTngTool.run(["lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile=\(note.path)"])
        let text = (try? String(contentsOf: note, encoding: .utf8)) ?? ""
        guard problem == nil, let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CommandFailure.tool(
                "LTTng's session daemon does not start (\(problem ?? "it does not say why")); run \"lttng-sessiond\" to see why."
            )
        }
        self.identifier = identifier
    }

    /// Ends it, and waits until it has.
    func stop() {
        guard kill(identifier, SIGTERM) == 0 else { return }
        let limit = Date(timeIntervalSinceNow: Self.patience)
        // It is no child of this process, which could be waited for.
        while kill(identifier, 0) == 0, Date() < limit { usleep(10_000) }
    }
}
