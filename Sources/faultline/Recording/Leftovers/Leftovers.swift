import FaultlineRecorder
import FaultlineTrace
import Foundation

/// The leftovers of killed Faultline processes.
struct Leftovers {
    /// Rings whose programs have ended.
    let rings: [LeftoverRings]
    /// Temporary directories without rings in them.
    let directories: [OwnedDirectory.Abandoned]
    /// LTTng sessions of recordings.
    let sessions: [LTTngLeftover]

    /// Finds the leftovers of this user's processes.
    ///
    /// - Parameter asksLTTng: Whether to ask LTTng's session daemon, which takes about 50 ms if one runs.
    init(asksLTTng: Bool = true) {
        rings = LeftoverRings.find().filter { $0.state != .running }
        let positions = LeftoverRings.directories
        directories = positions.flatMap { OwnedDirectory.abandoned(in: $0) }.filter { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return !names.contains(where: { $0.hasSuffix(".rings") })
        }
        sessions = asksLTTng ? LTTngLeftover.find() : []
    }

    /// Rings whose events are in no trace.
    var unread: [LeftoverRings] { rings.filter { !$0.isSpent } }

    var isEmpty: Bool { rings.isEmpty && directories.isEmpty && sessions.isEmpty }
}
