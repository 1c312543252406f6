import ArgumentParser
import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation

/// Summarizes traces as a profile, and merges profiles.
struct ProfileCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract:
            "Summarizes traces in a small file, which keeps everything except individual events, and merges such files.",
        discussion: """
            faultline profile trace.json -o trace.profile
            faultline report trace.profile
            faultline profile monday/*.profile -o monday.profile
            faultline merge monday.profile tuesday.profile -o week.profile

            The size of a profile depends on the number of distinct request shapes (requests without their values) and call \
            sites, not on the number of events.

            The order and the grouping of the files do not matter: the result is the same, byte for byte. A profile \
            knows which recordings it contains, and each recording is counted once, so last week's merged profile can be \
            one of the inputs. A folder stands for the profiles in it. A damaged file among several is named and left out. \
            "merge" is another name for the command.
            """,
        aliases: ["merge"])

    @Argument(help: "Traces, profiles, or folders of profiles.", completion: .file())
    var files: [String]

    @OptionGroup var output: ProfileOutput

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let files = files.flatMap(Self.profiles)
        let file = try output.check(inputs: files + [options.thresholds])
        do {
            try output.write(try sum(of: files), to: file)
        } catch is ProfileSum.Overlap {
            // Larger sums come before their parts.
            let sizes = files.map {
                (path: $0, size: (try? LoadedProfile(path: $0))?.profile.recordingIdentities.count ?? 0)
            }
            let sorted = sizes.enumerated().ordered { ($1.element.size, $0.offset) < ($0.element.size, $1.offset) }
            do {
                try output.write(try sum(of: sorted.map(\.element.path)), to: file)
            } catch let overlap as ProfileSum.Overlap {
                throw CommandFailure.usage(
                    "Cannot merge \"\(overlap.path)\": \(Phrase.count(UInt64(overlap.shared), "recording")) of it "
                        + "\(overlap.shared == 1 ? "is" : "are") also in \"\(overlap.earlier)\", and the others are not; "
                        + "merge the profiles from which these two were made.")
            }
        }
    }

    /// The profiles in a folder, in alphabetical order; other paths as they are.
    ///
    /// The folder of a CTF trace has no profiles.
    private static func profiles(_ path: String) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [path] }
        let paths = names.sorted().map { (path.hasSuffix("/") ? path : path + "/") + $0 }
        let profiles = paths.filter(LoadedProfile.isProfile)
        return profiles.isEmpty ? [path] : profiles
    }

    private func sum(of files: [String]) throws -> Profile {
        var files = files
        var notes: [String] = []
        while true {
            do {
                let (profile, more) = try Self.sum(files)
                for note in notes + more { Terminal.tell(note) }
                return profile
            } catch let part as ProfileSum.Superseded {
                files.removeAll { $0 == part.path }
                notes.append("\(part.path): \"\(part.by)\" has more of the same recording; only that is counted.")
            }
        }
    }

    private static func sum(_ files: [String]) throws -> (profile: Profile, notes: [String]) {
        // One file has a bar of its own.
        try ProgressBar.during("merging", .things("file"), isWanted: files.count > 1) { try sum(files, $0) }
    }

    /// - Parameter show: Called with the number of files that were added, and of all.
    private static func sum(
        _ files: [String], _ show: ((UInt64, UInt64) -> Void)?
    ) throws -> (profile: Profile, notes: [String]) {
        var sum = ProfileSum()
        var notes: [String] = []
        var damaged: CommandFailure?
        for (number, file) in files.enumerated() {
            show?(UInt64(number), UInt64(files.count))
            let profile: Profile
            do {
                profile = try LoadedProfile.oneOfSeveral(file)
            } catch let failure as CommandFailure where files.count > 1 && LoadedProfile.isReadable(file) {
                damaged = failure
                notes.append("\(file): not counted. \(failure)")
                continue
            }
            guard case .contained(let others) = try sum.add(profile, from: file) else { continue }
            let names = others.map { "\"\($0)\"" }.joined(separator: " and ")
            notes.append(
                others == [file]
                    ? "\(file): named twice; it is counted once."
                    : "\(file): all of it is in \(names) already; it is not counted again.")
        }
        if let damaged, sum.isEmpty { throw damaged }
        return (sum.profile, notes)
    }
}

/// The destination of a profile.
struct ProfileOutput: ParsableArguments {
    @Option(name: .shortAndLong, help: "The profile. Default: -, for standard output.", completion: .file())
    var output: String?

    @Flag(
        name: .long,
        help:
            "Replace any file that the command does not read. An earlier profile is replaced without --force."
    )
    var force = false

    @Flag(
        name: .long,
        help: """
            Keep the values of predicates and statements that were recorded with --values. By default, a profile has none, \
            so that it can be passed on.
            """)
    var values = false

    /// Checks that the profile can be written.
    ///
    /// - Parameter inputs: The files that the command reads.
    /// - Throws: ``CommandFailure`` if the file is one of them, or exists and is not a profile. It may be the only copy of a
    ///   trace.
    func check(inputs: [String?]) throws -> OutputFile {
        try OutputFile(output ?? "-", .profile, inputs: CommandInputs(inputs), isForced: force)
    }

    /// Writes a profile, without values unless they are wanted.
    func write(_ profile: Profile, to file: OutputFile) throws {
        let data = try (values ? profile : profile.withoutValues).fileData()
        guard file.isStandardOutput else { return try file.write(data) }
        try Terminal.output.write(json: String(decoding: data, as: UTF8.self))
    }
}
