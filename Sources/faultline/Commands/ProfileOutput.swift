import ArgumentParser
import FaultlineAnalysis
import Foundation

/// The destination of a profile.
struct ProfileOutput: ParsableArguments {
    @Option(name: .shortAndLong, help: "The profile. Default: standard output.", completion: .file())
    var output: String?

    @Flag(
        name: .long,
        help: "Also replace a file that is not a profile. An earlier profile is replaced without --force.")
    var force = false

    @Flag(
        name: .long,
        help: """
            Keep the values of predicates and statements that were recorded with --values. By default, a profile has none, \
            so that it can be passed on.
            """)
    var values = false

    /// - Throws: ``CommandFailure`` if the file exists and is not a profile. It may be the only copy of a trace.
    func check() throws {
        guard let output else { return }
        try OutputFile.check(output, replacing: .profile, isForced: force)
    }

    func write(_ profile: Profile) throws {
        let data = try (values ? profile : profile.withoutValues).fileData()
        guard let output else { return try Terminal.output.write(json: String(decoding: data, as: UTF8.self)) }
        do {
            try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure.tool(
                "Cannot write the profile to \"\(output)\" (\(error.localizedDescription)); check that the disk has "
                    + "space, and that the folder exists and is writable.")
        }
    }
}
