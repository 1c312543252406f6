import ArgumentParser
import FaultlineProfile
import FaultlineRules
import Foundation

/// Summarizes a trace as a profile.
struct ProfileCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Summarizes a trace in a small file, which keeps everything except individual events.",
        discussion: """
            faultline profile trace.json -o trace.profile
            faultline report trace.profile

            Its size depends on the number of distinct request shapes (requests without their values) and call sites, not \
            on the number of events. "faultline merge" merges profiles of many processes, hosts and days.
            """)

    @Argument(help: "The trace.", completion: .file())
    var trace: String

    @OptionGroup var output: ProfileOutput

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let file = try output.check(inputs: [trace, options.thresholds])
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes + loaded.profile.gaps { Terminal.tell(note) }
        try output.write(loaded.profile, to: file)
    }
}

/// The destination of a profile.
struct ProfileOutput: ParsableArguments {
    @Option(name: .shortAndLong, help: "The profile. Default: -, for standard output.", completion: .file())
    var output: String?

    @Flag(
        name: .long,
        help:
            "Also replace a file that is not a profile, unless the command reads it. An earlier profile is replaced without --force."
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
