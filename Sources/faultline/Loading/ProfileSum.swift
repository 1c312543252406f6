import FaultlineAnalysis

/// A sum of profiles, with each recording counted once.
struct ProfileSum {
    private(set) var profile = Profile()
    /// The files in the sum.
    private var included: [Part] = []

    private struct Part {
        var path: String
        var recordings: Set<UInt64>
        /// The amount of data in the file: its events, and its processes that have an end.
        var extent: (events: UInt64, ends: UInt64)

        init(_ profile: Profile, path: String) {
            self.path = path
            recordings = profile.recordingIdentities
            let all = profile.allProcesses
            extent = (all.counts.eventCount, all.processes &- all.unended)
        }
    }

    /// The result of adding a file.
    enum Outcome {
        case added
        /// The sum already contains everything in the file, in these files.
        case contained(in: [String])
    }

    /// Only some of a file's recordings are in the sum.
    ///
    /// A sum cannot be taken apart.
    struct Overlap: Error {
        let path: String
        let earlier: String
        let shared: Int
    }

    /// A file has more of the same recordings than one already in the sum, which was made from a part of them or before
    /// they had ended.
    struct Superseded: Error {
        let path: String
        let by: String
    }

    /// Adds a file's profile, unless the sum already contains all of it.
    ///
    /// - Throws: ``Overlap`` if the sum contains a part of it, ``Superseded`` if it replaces another file, and
    ///   ``CommandFailure`` if it was made with other thresholds.
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
