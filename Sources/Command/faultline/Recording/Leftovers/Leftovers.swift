import FaultlineFindings
import FaultlineRecorder
import FaultlineReport
import FaultlineTrace
import Foundation

/// The leftovers of killed Faultline processes.
struct Leftovers {
    /// Rings whose programs have ended.
    let rings: [LeftoverRings]
    /// Ring files of other versions.
    let unreadable: [String]
    /// Temporary directories without rings in them.
    let directories: [OwnedDirectory.Abandoned]
    /// Outputs that were not finished, under their temporary names.
    let files: [String]
    /// LTTng sessions of recordings.
    let sessions: [LTTngLeftover]

    /// Finds the leftovers of this user's processes.
    ///
    /// - Parameters:
    ///   - folders: Folders of outputs, besides the directories for temporary files.
    ///   - asksLTTng: Whether to ask LTTng's session daemon, which takes about 50 ms if one runs.
    init(in folders: [String] = ["."], asksLTTng: Bool = true) {
        let folders = folders.map { URL(fileURLWithPath: $0).path }
        let positions = LeftoverRings.directories + folders.filter { !LeftoverRings.directories.contains($0) }
        rings = LeftoverRings.find(in: positions).filter { $0.state != .running }
        unreadable = LeftoverRings.findUnreadable(in: positions)
        files = positions.flatMap { UnfinishedFile.abandoned(in: $0) }
        directories = positions.flatMap { OwnedDirectory.abandoned(in: $0) }.filter { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return !names.contains(where: { $0.hasSuffix(".rings") })
        }
        sessions = asksLTTng ? LTTngLeftover.find() : []
    }

    /// Rings whose events are in no trace.
    var unread: [LeftoverRings] { rings.filter { !$0.isSpent } }

    var isEmpty: Bool { rings.isEmpty && directories.isEmpty && files.isEmpty && sessions.isEmpty }
}

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

/// The text for rings.
enum RingsText {
    static func list(_ rings: [LeftoverRings], unreadable: [String] = []) -> String {
        let texts = rings.map(text) + unreadable.map { "\($0)\n  \(refusal)" }
        guard !texts.isEmpty else { return "No program left ring buffers.\n" }
        return texts.map { $0 + "\n" }.joined(separator: "\n")
    }

    /// The reason why a file stays as it is.
    static let refusal =
        "Another version of Faultline recorded it: read it with that version, or remove it."

    private static func text(_ rings: LeftoverRings) -> String {
        let began = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: rings.date))
        let state =
            switch rings.state {
            case .running: "running"
            case .closed: "ended"
            case .killed: "killed"
            }
        let program = rings.program.isEmpty ? "unknown program" : rings.program
        return """
            \(rings.file)
              \(program), process \(rings.process), began \(began), \(state)
              \(Phrase.count(rings.events, "event")) in no trace
              \(advice(rings))
            """
    }

    /// The advice for the rings.
    static func advice(_ rings: LeftoverRings) -> String {
        if rings.state == .running { return "→ wait until it ends" }
        if rings.isSpent { return "→ faultline clean" }
        guard let trace = rings.trace, FileManager.default.fileExists(atPath: trace) else {
            return "→ faultline recover \(rings.file) -o trace.json"
        }
        return "→ faultline recover \(trace)"
    }
}
