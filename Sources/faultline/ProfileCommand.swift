import ArgumentParser
import FaultlineAnalysis
import Foundation

/// Sums a trace up.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Sums a trace up in a small file, from which everything but single events can be told.",
        discussion: """
            faultline profile trace.json -o trace.profile
            faultline report trace.profile

            Its size follows the shapes and lines of the program, and not the number of events. Profiles of many \
            processes, hosts and days add up with "faultline merge".
            """)

    @Argument(help: "The trace.")
    var trace: String

    @OptionGroup var output: ProfileOutput

    func run() throws {
        try output.check()
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes { Terminal.tell(note) }
        try output.write(loaded.profile)
    }
}

/// Adds profiles up.
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Adds up profiles of many processes, hosts and days.",
        discussion: """
            faultline merge monday/*.profile -o monday.profile
            faultline merge monday.profile tuesday.profile -o week.profile

            In whatever order and grouping they are added, the result is the same, byte by byte. Whoever names a file \
            twice counts it twice. Traces are summed up on the way.
            """)

    @Argument(help: "Profiles, or traces.")
    var files: [String]

    @OptionGroup var output: ProfileOutput

    func run() throws {
        try output.check()
        var sum = Profile()
        for file in files {
            let loaded = try LoadedProfile(path: file)
            for note in loaded.notes { Terminal.tell("\(file): \(note)") }
            sum.merge(loaded.profile)
        }
        try output.write(sum)
    }
}

/// Where a profile goes.
struct ProfileOutput: ParsableArguments {
    @Option(name: .shortAndLong, help: "The profile; by default it goes to standard output.")
    var output: String?

    /// - Throws: ``CommandFailure`` if the file is there and no profile: it may be the only copy of a trace.
    func check() throws {
        guard let output, FileManager.default.fileExists(atPath: output), !LoadedProfile.isProfile(output) else {
            return
        }
        throw CommandFailure.usage("\"\(output)\" is there already and is no profile; name another file with -o.")
    }

    func write(_ profile: Profile) throws {
        let data = try profile.fileData()
        guard let output else { return try Terminal.output.write(String(decoding: data, as: UTF8.self)) }
        do {
            try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure.tool(
                "The profile cannot be written to \"\(output)\" (\(error.localizedDescription)); see whether the disk has "
                    + "room, and whether the folder is there and may be written.")
        }
    }
}
