import FaultlineAnalysis
import FaultlineReport
import FaultlineTrace
import Foundation

/// A command that is run as it is, and again with fetches that do otherwise.
struct AdviceTrial {
    private let words: [String]
    private let advice: [FetchAdvice]
    private let destination: RecordingDestination
    /// The trace of the command that does otherwise.
    private let output: String
    /// The trace of the command as it is; `nil`: it is to be recorded.
    private let against: String?
    private let recordsValues: Bool

    init(
        _ words: [String], _ advice: [FetchAdvice], to destination: RecordingDestination, _ output: String,
        against: String?, recordingValues: Bool
    ) {
        self.words = words
        self.advice = advice
        self.destination = destination
        self.output = output
        self.against = against
        recordsValues = recordingValues
    }

    /// Where the trace of the command as it is goes: `faultline-untried.json` beside `faultline.json`.
    private var untried: String {
        let url = URL(fileURLWithPath: output)
        let end = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + "-untried" + end
    }

    /// Records, prints what the change has made of it, and ends as the command did.
    ///
    /// - Throws: ``CommandFailure`` if a trace cannot be written or the command cannot be run.
    func run(_ isQuiet: Bool) throws {
        let before = against ?? untried
        if against == nil {
            let recording = try Recording.run(
                words, to: destination, output: before, recordingValues: recordsValues)
            // What fails as it is would say nothing of the change.
            guard recording.ending == .exited(0), recording.tellsOfItself(words[0]) else {
                recording.ending.passOn()
            }
        }
        let recording = try Recording.run(
            words, to: destination, output: output, trying: advice, recordingValues: recordsValues)
        if !isQuiet, recording.tellsOfItself(words[0]) { compare(before) }
        recording.ending.passOn()
    }

    /// What goes wrong here is told, and the command's exit status is passed on all the same.
    private func compare(_ before: String) {
        do {
            let sides = try [before, output].map { Analysis(try LoadedProfile.oneOfSeveral($0)) }
            for advice in advice where !sides[1].profile.fetches.contains(where: { advice.isFor($0.key.site) }) {
                Terminal.tell("No fetch was made at \(advice.place), so that \"\(advice.change)\" was not tried.")
            }
            let tried = advice.map { "Tried: \($0)\n" }.joined()
            let terminal = Terminal.errors
            let text = DiffText(ProfileDiff(before: sides[0], after: sides[1]))
                .render(width: terminal.width, colour: terminal.wantsColour)
            try terminal.write("\n\(tried)\n\(text)\n")
        } catch {
            Terminal.tell("\(error)")
        }
    }
}

extension FetchAdvice {
    fileprivate func isFor(_ site: CallSite?) -> Bool { site.map { isFor($0.file, line: Int($0.line)) } ?? false }
}
