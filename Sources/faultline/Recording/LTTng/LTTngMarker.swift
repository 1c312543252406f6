import FaultlineTrace
import Foundation

/// A file that marks the directory of a CTF trace as made by `faultline record`.
///
/// `faultline-4711-123456 4712`: the session's name, and the session daemon's process ID if one was started for it.
enum LTTngMarker {
    static let name = ".faultline-recording"

    static func write(in directory: String, session: String, daemon: pid_t?) throws {
        let text = session + (daemon.map { " \($0)" } ?? "") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/" + name), options: .withoutOverwriting)
    }

    /// Whether a directory has a marker with a session's name.
    static func exists(in directory: String) -> Bool {
        guard let head = try? RegularFile.beginning(of: directory + "/" + name, length: 256) else { return false }
        return String(decoding: head, as: UTF8.self).hasPrefix("faultline-")
    }

    /// The session daemon that was started for a session, or `nil` if none was or it has ended.
    static func daemon(in directory: String, session: String) -> pid_t? {
        guard !directory.isEmpty,
            let text = try? String(contentsOfFile: directory + "/" + name, encoding: .utf8)
        else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == session, let process = pid_t(words[1]) else { return nil }
        // Another process may have the same ID by now.
        let program = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
        return program?.hasPrefix("lttng-sessiond") == true ? process : nil
    }
}
