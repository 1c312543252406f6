import FaultlineAnalysis

/// Profiles that are added up, each recording once.
struct ProfileSum {
    private(set) var profile = Profile()
    /// Which files are in it.
    private var included: [Part] = []

    private struct Part {
        var path: String
        var recordings: Set<UInt64>
        /// How much of them the file has: events, and processes whose end is told.
        var extent: (events: UInt64, ends: UInt64)

        init(_ profile: Profile, path: String) {
            self.path = path
            recordings = profile.recordingIdentities
            let all = profile.allProcesses
            extent = (all.counts.eventCount, all.processes &- all.unended)
        }
    }

    /// What became of a file.
    enum Outcome {
        case added
        /// Everything in it is in the sum already, which holds these files.
        case contained(in: [String])
    }

    /// Some of a file's recordings are in the sum, and others are not; a sum cannot be taken apart.
    struct Overlap: Error {
        let path: String
        let earlier: String
        let shared: Int
    }

    /// A file has more of the recordings of one that is in the sum already, because that was made before they had ended or
    /// of a part of them.
    struct Superseded: Error {
        let path: String
        let by: String
    }

    /// Adds a file's profile, unless all of it is there already.
    ///
    /// - Throws: ``Overlap`` if a part of it is, ``Superseded`` if another file is a part of it, and ``CommandFailure`` if it
    ///   was made with other thresholds.
    mutating func add(_ other: Profile, from path: String) throws -> Outcome {
        let part = Part(other, path: path)
        let recordings = part.recordings
        let shared = included.filter { !$0.recordings.isDisjoint(with: recordings) }
        guard let first = shared.first else {
            try merge(other, from: path)
            included.append(part)
            return .added
        }
        if shared.count == 1, first.recordings == recordings, part.extent > first.extent {
            throw Superseded(path: first.path, by: path)
        }
        let known = shared.reduce(into: Set<UInt64>()) { $0.formUnion($1.recordings) }.intersection(recordings)
        guard known.count == recordings.count else {
            throw Overlap(path: path, earlier: first.path, shared: known.count)
        }
        return .contained(in: shared.map(\.path))
    }

    private mutating func merge(_ other: Profile, from path: String) throws {
        do {
            try profile.merge(other)
        } catch {
            throw CommandFailure.usage(
                "Cannot merge \"\(path)\": it and \"\(included[0].path)\" \(error.reason); make both again with the same "
                    + "--thresholds.")
        }
    }
}
