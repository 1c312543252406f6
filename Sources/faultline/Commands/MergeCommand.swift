import ArgumentParser
import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineTrace

/// Merges profiles.
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merges profiles of many processes, hosts and days.",
        discussion: """
            faultline merge monday/*.profile -o monday.profile
            faultline merge monday.profile tuesday.profile -o week.profile

            The order and the grouping of the files do not matter: the result is the same, byte for byte. A profile \
            knows which recordings it contains, and each recording is counted once, so last week's merged profile can be \
            one of the inputs. Traces are converted to profiles first.
            """)

    @Argument(help: "Profiles, or traces.", completion: .file())
    var files: [String]

    @OptionGroup var output: ProfileOutput

    func run() throws {
        let file = try output.check(inputs: files)
        do {
            try output.write(try sum(of: files), to: file)
        } catch is ProfileSum.Overlap {
            // Larger sums come before their parts.
            let sizes = try files.map {
                (path: $0, size: try LoadedProfile(path: $0).profile.recordingIdentities.count)
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
        for (number, file) in files.enumerated() {
            show?(UInt64(number), UInt64(files.count))
            guard case .contained(let others) = try sum.add(try LoadedProfile.oneOfSeveral(file), from: file) else {
                continue
            }
            let names = others.map { "\"\($0)\"" }.joined(separator: " and ")
            notes.append(
                others == [file]
                    ? "\(file): named twice; it is counted once."
                    : "\(file): all of it is in \(names) already; it is not counted again.")
        }
        return (sum.profile, notes)
    }
}
