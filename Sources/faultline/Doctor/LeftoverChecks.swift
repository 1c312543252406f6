import FaultlineAnalysis
import FaultlineRecorder
import Foundation

/// Checks for leftovers of killed Faultline processes.
struct LeftoverChecks: Examination {
    private static let events = Subject(
        name: "unread rings",
        why: "Killed programs left events that are in no trace; they are lost when the machine restarts.")
    private static let rest = Subject(
        name: "leftovers", why: "Killed commands leave files in memory and beside their outputs, and LTTng sessions.")

    var silence: Check {
        Self.rest.failed("the temporary directories do not respond", "Check what is mounted there.")
    }

    func checks() -> [Check] {
        let leftovers = Leftovers()
        let unread = leftovers.unread
        let count = unread.reduce(0) { $0 &+ $1.events }
        let rings = leftovers.rings.count - unread.count
        let parts = [
            (rings, "file of ring buffers", "files of ring buffers"),
            (leftovers.directories.count, "directory", "directories"),
            (leftovers.files.count, "unfinished output", "unfinished outputs"),
            (leftovers.sessions.count, "LTTng session", "LTTng sessions"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        return [
            unread.isEmpty
                ? Self.events.ok("none")
                : Self.events.warning(
                    "\(Phrase.count(count, "event")) in \(Phrase.count(UInt64(unread.count), "file"))",
                    "List them, and make traces of them.", command: "faultline recover"),
            parts.isEmpty
                ? Self.rest.ok("none")
                : Self.rest.warning(parts.joined(separator: ", "), "Remove them.", command: "faultline clean"),
        ]
    }
}
