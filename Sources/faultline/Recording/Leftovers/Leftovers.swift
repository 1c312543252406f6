import FaultlineRecorder
import FaultlineTrace
import Foundation

/// The leftovers of killed Faultline processes.
struct Leftovers {
    /// Rings whose programs have ended.
    let rings: [LeftoverRings]
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
