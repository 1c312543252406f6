import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation

/// A command that runs unchanged, and again with changed fetches.
struct AdviceTrial {
    let words: [String]
    let advice: [FetchAdvice]
    let destination: RecordingDestination
    /// The trace of the changed run.
    let output: String
    /// The trace of the unchanged run, or `nil` to record one.
    let against: String?
    let detail: RecordedDetail

    /// The path of the unchanged run's trace: `faultline-untried.json` next to `faultline.json`.
    private var untried: String {
        let url = URL(fileURLWithPath: output)
        let end = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + "-untried" + end
    }

    /// Records, prints the effect of the change, and ends as the command did.
    ///
    /// - Parameter inputs: The files that are read, none of which a trace replaces.
    /// - Throws: ``CommandFailure`` if a trace cannot be read or written, if the command cannot be run, or if it
    ///   succeeded but no fetch took any of the changes. Otherwise the exit status would suggest a comparison.
    func run(_ isQuiet: Bool, _ inputs: CommandInputs) throws {
        if against == nil { try destination.check(untried, inputs: inputs, isForced: false) }
        let before = try against.map { try LoadedProfile.oneOfSeveral($0) } ?? recordAsItIs()
        guard !before.fetches.isEmpty else {
            throw CommandFailure.usage(
                "The unchanged command made no fetch, so --try has nothing to change: it changes fetches of FaultlineStore."
            )
        }
        // The changed command would make the same fetches.
        let sites = before.fetches.map(\.key.site)
        guard advice.contains(where: { advice in sites.contains(where: advice.isFor) }) else {
            throw CommandFailure.usage(
                "The unchanged command made no fetch at \(advice.map(\.location).joined(separator: " or ")), so --try has "
                    + "nothing to change; name a line that fetches, as the report prints it.")
        }
        let recording = try Recording.run(
            words, to: destination, output: output, trying: advice, detail: detail)
        let wasTried = recording.tell(words[0]).map { compare(before, $0, isQuiet) } ?? false
        if !wasTried, recording.ending == .exited(0) {
            throw CommandFailure.usage(
                "--try changed no fetch; name a line that fetches, and options that its fetch accepts.")
        }
        recording.ending.passOn()
    }

    /// Records the unchanged command.
    ///
    /// If it fails, this process ends like it, because the change could not be judged.
    private func recordAsItIs() throws -> Profile {
        let recording = try Recording.run(
            words, to: destination, output: untried, trying: [], detail: detail)
        let trace = recording.tell(words[0])
        guard recording.ending == .exited(0), let trace else {
            if trace != nil { Terminal.tell("The unchanged command failed, so the change was not tried.") }
            recording.ending.passOn()
        }
        return try LoadedProfile.oneOfSeveral(trace)
    }

    /// Prints the comparison, unless there is nothing to compare.
    ///
    /// An error is printed, and the command's exit status is passed on all the same.
    ///
    /// - Returns: Whether any fetch took a change.
    private func compare(_ before: Profile, _ trace: String, _ isQuiet: Bool) -> Bool {
        do {
            let after = try LoadedProfile.oneOfSeveral(trace)
            let fetches = { (advice: FetchAdvice) in after.fetches.filter { advice.isFor($0.key.site) } }
            for advice in advice where fetches(advice).isEmpty {
                Terminal.tell("No fetch was made at \(advice.location), so \"\(advice.change)\" was not tried.")
            }
            // The program itself reports why its other fetches did not take their changes.
            let taken = advice.filter { advice in fetches(advice).contains { $0.hasTaken(advice.change) } }
            guard !taken.isEmpty else { return false }
            guard !isQuiet else { return true }
            let tried = taken.map { "Tried: \($0)\n" }.joined()
            let terminal = Terminal.errors
            let diff = ProfileDiff(before: Analysis(before), after: Analysis(after))
            let text = DiffText(diff).render(width: terminal.width, colour: terminal.wantsColour)
            try terminal.write("\n\(tried)\n\(text)\n")
        } catch {
            Terminal.tell("\(error)")
        }
        return true
    }
}

extension FetchAdvice {
    fileprivate func isFor(_ site: CallSite?) -> Bool { site.map { isFor($0.file, line: $0.line) } ?? false }
}
