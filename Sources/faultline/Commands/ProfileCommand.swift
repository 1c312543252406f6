import ArgumentParser

/// Sums a trace up.
struct ProfileCommand: JudgingCommand {
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

    @OptionGroup var thresholds: ThresholdOptions

    func work() throws {
        try output.check()
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes + loaded.profile.gaps { Terminal.tell(note) }
        try output.write(loaded.profile)
    }
}
