import Foundation

/// An LTTng session that a killed `faultline record` created and could not end.
struct LTTngLeftover {
    let name: String
    /// The directory of its trace, or empty if unknown.
    let output: String
    /// The session daemon that was started for it, or `nil` if another one serves it.
    let daemon: pid_t?

    /// The time that the daemon gets to answer, in milliseconds.
    private static let patience = 1000

    /// Finds the sessions whose process has ended.
    ///
    /// Returns none if LTTng is not installed or no daemon runs.
    static func find() -> [LTTngLeftover] {
        let names = print("list").matches(of: #/\d+\) (faultline-(\d+)-\d+)(?=[ \n])/#).map(\.output)
        return names.compactMap { _, name, process in
            guard let process = pid_t(process), kill(process, 0) != 0, errno == ESRCH else { return nil }
            let about = print("list", String(name))
            let output = about.firstMatch(of: #/Trace (?:output|path): ([^\n]+)/#).map { String($0.output.1) } ?? ""
            return LTTngLeftover(
                name: String(name), output: output, daemon: LTTngMarker.daemon(in: output, session: String(name)))
        }
    }

    private static func print(_ arguments: String...) -> String {
        let answer = ExternalCommand(["lttng", "--no-sessiond"] + arguments, patience: patience).answer()
        guard case .printed(let text, status: 0) = answer else { return "" }
        return text
    }

    /// Ends the session, which keeps what it has written, and the daemon if it was started for the session.
    ///
    /// - Returns: The error message, or `nil` if it succeeded.
    func remove() -> String? {
        do {
            _ = try LTTngTool.run(["lttng", "--no-sessiond", "stop", name])
            let problem = try LTTngTool.run(["lttng", "--no-sessiond", "destroy", "--no-wait", name])
            if problem == nil, let daemon { kill(daemon, SIGTERM) }
            return problem
        } catch {
            return "\(error)"
        }
    }
}
