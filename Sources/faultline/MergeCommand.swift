import ArgumentParser
import FaultlineAnalysis

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
        for file in files { sum.merge(try LoadedProfile.oneOfSeveral(file)) }
        try output.write(sum)
    }
}
