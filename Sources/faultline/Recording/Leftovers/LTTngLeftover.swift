import Foundation

/// A session of LTTng that a `faultline record` made and could not end, because it was killed.
struct LTTngLeftover {
    let name: String
    /// Where it writes its trace; empty: it does not say.
    let output: String
    /// The session daemon that was started for it; `nil`: another one serves it.
    let daemon: pid_t?

    /// How long the daemon gets to answer, in milliseconds.
    private static let patience = 1000

    /// The sessions whose process has ended.
    ///
    /// Empty where LTTng is not installed or no daemon runs.
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

    /// Ends the session, which keeps what it has written, and the daemon if it was started for it.
    ///
    /// - Returns: What is wrong; `nil`: nothing is.
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
