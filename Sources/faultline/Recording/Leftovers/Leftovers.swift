import FaultlineRecorder
import Foundation

/// What processes of Faultline's left behind because they were killed.
struct Leftovers {
    /// Rings whose programs have ended.
    let rings: [LeftRings]
    /// Temporary directories without rings in them.
    let directories: [OwnedDirectory.Abandoned]
    /// Sessions of LTTng that recordings made.
    let sessions: [LTTngLeftover]

    /// Those of this user.
    ///
    /// - Parameter asksLTTng: Whether to ask its session daemon, which takes some 50 ms where one runs.
    init(asksLTTng: Bool = true) {
        rings = LeftRings.find().filter { $0.state != .running }
        let places = LeftRings.places
        directories = places.flatMap { OwnedDirectory.abandoned(in: $0) }.filter { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return !names.contains(where: { $0.hasSuffix(".rings") })
        }
        sessions = asksLTTng ? LTTngLeftover.find() : []
    }

    /// Rings whose events are in no trace.
    var unread: [LeftRings] { rings.filter { !$0.isSpent } }

    var isEmpty: Bool { rings.isEmpty && directories.isEmpty && sessions.isEmpty }
}
