import ArgumentParser
import FaultlineAnalysis
import FaultlineReport

/// Compares two traces.
struct DiffCommand: JudgingCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Says what got worse, better, new and gone between two traces or profiles.",
        discussion: """
            Operations are matched by shape and line; lines that moved are found again by function and file. Counts are \
            compared exactly, per trace where a side is a sum of several. A time has changed if it stands out among those \
            of the operations that ran at the same time, beyond what all of them have in common and more than they \
            differ from each other. An operation that ran at another time than all others must change by 1.8 × in one \
            run: the machine may have been slow at that moment. Sums of several runs show smaller changes. Waits for a \
            CPU do not count.

            The status is 0 whatever changed; "faultline check" is what can fail.
            """)

    @Argument(help: "The trace or profile from before.")
    var before: String

    @Argument(help: "The trace or profile from after.")
    var after: String

    @Option(name: .long, help: "text, or json for programs.")
    var format = OutputFormat.text

    @OptionGroup var thresholds: ThresholdOptions

    func work() throws {
        let sides = try [before, after].map { Analysis(try LoadedProfile.oneOfSeveral($0)) }
        let diff = ProfileDiff(before: sides[0], after: sides[1])
        let output = Terminal.output
        switch format {
        case .text: try output.write(DiffText(diff).render(width: output.width, colour: output.wantsColour))
        case .json: try output.write(DiffJSON(diff).render())
        }
    }
}
