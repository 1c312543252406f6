import FaultlineFindings
import FaultlineProfile
import FaultlineReader
import FaultlineRules
import FaultlineTrace
import Foundation

/// The profile of one or more traces, built from a trace or read from a profile file.
struct LoadedProfile {
    let profile: Profile
    /// Sentences about the file, for stderr.
    let notes: [String]

    /// Reads a trace, or a file that `faultline profile` or `faultline merge` wrote.
    ///
    /// - Parameter observe: Called for the messages of a trace. A profile has none.
    /// - Throws: ``CommandFailure`` if it cannot be read.
    init(path: String, observing observe: (TraceMessage) -> Void = { _ in }) throws {
        if Self.isProfile(path) {
            profile = try Self.read(path)
            notes = []
            return
        }
        var trace = try LoadedTrace(path: path)
        var builder = ProfileBuilder()
        let summary = try trace.read { message in
            builder.add(message)
            observe(message)
        }
        builder.addUnread(summary.unread &+ trace.missing)
        profile = builder.finish()
        notes = trace.notes + summary.complaints
    }

    /// Loads the profile of one of several files, and prints its notes and gaps.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read.
    static func oneOfSeveral(_ path: String) throws -> Profile {
        let loaded = try LoadedProfile(path: path)
        for note in loaded.notes + loaded.profile.gaps { Terminal.tell("\(path): \(note)") }
        return loaded.profile
    }

    /// Whether a file's content is a profile, or its name says so and it is no trace: a damaged file can begin with
    /// anything.
    static func isProfile(_ path: String) -> Bool {
        guard let beginning = try? RegularFile.beginning(of: path, length: 256) else { return false }
        if Profile.isProfile(Data(beginning)) { return true }
        return path.hasSuffix(".profile") && beginning.first != UInt8(ascii: "[")
    }

    /// Whether a path is that of a file that can be read, whatever is in it.
    static func isReadable(_ path: String) -> Bool { (try? RegularFile.beginning(of: path, length: 1)) != nil }

    private static func read(_ path: String) throws -> Profile {
        let data = try InputFile.read(path, as: "profile", atMost: 1 << 30)
        do {
            return try Profile(fileData: data)
        } catch {
            throw CommandFailure.usage(
                "The profile \"\(path)\" \(error.reason); make it again from its trace with \"faultline profile\".")
        }
    }
}

extension Profile {
    /// A sentence about a number of lost events.
    static func lossSentence(_ lost: UInt64) -> String {
        "\(Phrase.count(lost, "event")) \(lost == 1 ? "was" : "were") lost."
    }

    /// Sentences about the data that the trace lacks, which a comparison or sum with it then lacks, too.
    var gaps: [String] {
        var sentences: [String] = []
        if lost > 0 {
            sentences.append(Self.lossSentence(lost))
        }
        if unwritten > 0 {
            sentences.append("\(Phrase.count(unwritten, "line")) of the trace could not be written.")
        }
        if removed > 0 {
            sentences.append(
                "\(Phrase.count(removed, "earlier event")) \(removed == 1 ? "was" : "were") removed by --max-size.")
        }
        if unread > 0 {
            sentences.append("\(Phrase.count(unread, "part")) of the trace could not be read.")
        }
        if let open = OpenEnd.sentence(allProcesses.unended) { sentences.append(open) }
        return sentences
    }
}

/// A sum of profiles, with each recording counted once.
struct ProfileSum {
    private(set) var profile = Profile()
    /// The files in the sum.
    private var included: [Part] = []
    /// Whether no file has been added.
    var isEmpty: Bool { included.isEmpty }

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
