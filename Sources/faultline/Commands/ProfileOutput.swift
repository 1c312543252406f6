import ArgumentParser
import FaultlineAnalysis
import Foundation

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
