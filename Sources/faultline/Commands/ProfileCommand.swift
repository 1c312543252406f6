import ArgumentParser

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
