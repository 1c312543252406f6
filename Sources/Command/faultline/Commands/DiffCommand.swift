import ArgumentParser
import FaultlineReport
import FaultlineRules

/// Compares two traces.
struct DiffCommand: AnalyzingCommand, PrintingCommand {
    static let output = Output.document(ProfileDiff.self)
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two traces or profiles: what got worse or better, and what is new or gone.",
        discussion: """
            Operations are matched by request shape and line; lines that moved are found again by function and file. \
            Counts are compared exactly; for a merged profile, the average per trace is used. A time has changed if it \
            stands out from those of the operations that ran in the same period: by more than the change that all of \
            them share, and by more than they differ from each other. If there is only one run on each side, an operation that ran \
            alone must change by a factor of at least 1.8, because the machine may have been slow at that time. \
            Profiles of several runs show smaller changes. Waits for a CPU do not count.

            The exit status is 0 whatever changed; use "faultline check" to fail a build.
            """)

    @Argument(help: "The trace or profile from before.", completion: .file())
    var before: String

    @Argument(help: "The trace or profile from after.", completion: .file())
    var after: String

    @Option(name: .long, help: ArgumentHelp(OutputFormat<DiffCommand>.help))
    var format = OutputFormat<DiffCommand>.text

    @OptionGroup(title: "Page") var page: PageOutput
    var file: PrintedFile { page.file }

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let output = try page.check(for: self, inputs: [before, after, options.thresholds])
        let sides = try [before, after].map { Analysis(try LoadedProfile.oneOfSeveral($0)) }
        let diff = ProfileDiff(before: sides[0], after: sides[1])
        if let output, renderer.page != nil {
            let (old, new) = (try page.events(of: before, sides[0]), try page.events(of: after, sides[1]))
            return try output.write(.diff(diff, before: old, after: new), by: renderer, page.options)
        }
        var next: NextStep?
        if let before = NextStep.Input(file: before), let after = NextStep.Input(file: after, options.words) {
            next = NextStep.after(diff, before: before, after)
        }
        try write(diff, to: output, next: next)
    }
}
