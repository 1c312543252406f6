import FaultlineAnalysis

/// Profiles that are added up, each recording once.
struct ProfileSum {
    private(set) var profile = Profile()
    /// Which files are in it.
    private var included: [(path: String, recordings: Set<UInt64>)] = []

    /// What became of a file.
    enum Outcome {
        case added
        /// Everything in it is in the sum already, which holds the file of that name, or others that together have all of it.
        case contained(in: String)
    }

    /// Some of a file's recordings are in the sum, and others are not; a sum cannot be taken apart.
    struct Overlap: Error {
        let path: String
        let earlier: String
        let shared: Int
    }

    /// Adds a file's profile, unless all of it is there already.
    ///
    /// - Throws: ``Overlap`` if a part of it is; ``CommandFailure`` if the profile was made with other thresholds.
    mutating func add(_ other: Profile, from path: String) throws -> Outcome {
        let recordings = other.recordingIdentities
        let shared = included.filter { !$0.recordings.isDisjoint(with: recordings) }
        guard let first = shared.first else {
            do {
                try profile.merge(other)
            } catch {
                throw CommandFailure.usage(
                    "Cannot merge \"\(path)\": it and \"\(included[0].path)\" \(error.reason); make both again with the same "
                        + "--thresholds.")
            }
            included.append((path, recordings))
            return .added
        }
        let known = shared.reduce(into: Set<UInt64>()) { $0.formUnion($1.recordings) }.intersection(recordings)
        guard known.count == recordings.count else {
            throw Overlap(path: path, earlier: first.path, shared: known.count)
        }
        return .contained(in: first.path)
    }
}
