import FaultlineFindings
import FaultlineProfile
import FaultlineRecorder
import FaultlineReplay
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
    /// Short commands that only read run several times, so that their times can be compared.
    ///
    /// - Parameter inputs: The files that are read, none of which a trace replaces.
    /// - Throws: ``CommandFailure`` if a trace cannot be read or written, if the command cannot be run, or if it
    ///   succeeded but no fetch took any of the changes. Otherwise the exit status would suggest a comparison.
    func run(_ isQuiet: Bool, _ inputs: CommandInputs) throws {
        if against == nil { try destination.check(untried, inputs: inputs, isForced: false) }
        let before = try against.map { Run(profile: try LoadedProfile.oneOfSeveral($0)) } ?? recordAsItIs()
        guard !before.profile.fetches.isEmpty else {
            throw CommandFailure.usage(
                "The unchanged command made no fetch, so --try has nothing to change: it changes fetches of FaultlineStore."
            )
        }
        // The changed command would make the same fetches.
        let sites = before.profile.fetches.map(\.key.site)
        guard advice.contains(where: { advice in sites.contains(where: advice.isFor) }) else {
            throw CommandFailure.usage(
                "The unchanged command made no fetch at \(advice.map(\.location).joined(separator: " or ")), so --try has "
                    + "nothing to change; name a line that fetches, as the report prints it.")
        }
        let start = ContinuousClock.now
        let recording = try record(isChanged: true)
        let each = start.duration(to: .now)
        let wasTried = recording.tell(words[0]).map { compare(before, recording, $0, each: each, isQuiet) } ?? false
        if !wasTried, recording.ending == .exited(0) {
            throw CommandFailure.usage(
                "--try changed no fetch; name a line that fetches, and options that its fetch accepts.")
        }
        recording.ending.passOn()
    }

    private func record(isChanged: Bool, isSilent: Bool = false) throws -> Recording {
        try Recording.run(
            words, to: destination, output: isChanged ? output : untried, isSilent: isSilent,
            trying: isChanged ? advice : [], detail: detail)
    }

    /// Records the unchanged command.
    ///
    /// If it fails, this process ends like it, because the change could not be judged.
    private func recordAsItIs() throws -> Run {
        let recording = try record(isChanged: false)
        let trace = recording.tell(words[0])
        guard recording.ending == .exited(0), let trace else {
            if trace != nil { Terminal.tell("The unchanged command failed, so the change was not tried.") }
            recording.ending.passOn()
        }
        return Run(profile: try LoadedProfile.oneOfSeveral(trace), cpuTime: recording.cpuTime)
    }

    /// Returns the changes that any fetch took, and prints which ones none did; `nil` if there are none to compare.
    private func taken(_ profile: Profile) -> [FetchAdvice]? {
        let fetches = { (advice: FetchAdvice) in profile.fetches.filter { advice.isFor($0.key.site) } }
        for advice in advice where fetches(advice).isEmpty {
            Terminal.tell("No fetch was made at \(advice.location), so \"\(advice.change)\" was not tried.")
        }
        // The program itself reports why its other fetches did not take their changes.
        let taken = advice.filter { advice in fetches(advice).contains { $0.hasTaken(advice.change) } }
        return taken.isEmpty ? nil : taken
    }

    /// Prints the comparison, unless there is nothing to compare.
    ///
    /// An error is printed, and the command's exit status is passed on all the same.
    ///
    /// - Parameter each: How long the changed run took.
    /// - Returns: Whether any fetch took a change.
    private func compare(
        _ before: Run, _ recording: Recording, _ trace: String, each: Swift.Duration, _ isQuiet: Bool
    ) -> Bool {
        do {
            let after = Run(profile: try LoadedProfile.oneOfSeveral(trace), cpuTime: recording.cpuTime)
            guard let taken = taken(after.profile) else { return false }
            guard !isQuiet else { return true }
            let rounds =
                recording.ending == .exited(0) ? try repeated(before, after, each: each) : Rounds(before, after)
            let tried = taken.map { "Tried: \($0)\n" }.joined()
            let terminal = Terminal.errors
            let diff = ProfileDiff(before: Analysis(rounds.before), after: Analysis(rounds.after))
            let text = DiffText(diff).render(width: terminal.width, colour: terminal.wantsColour)
            let noise = Phrase.wrapped(rounds.sentence, width: TextPage.width(terminal.width, atMost: 120))
            try terminal.write("\n\(tried)\n\(text)\n\(noise.joined(separator: "\n"))\n")
        } catch {
            Terminal.tell("\(error)")
        }
        return true
    }
}

// MARK: - Repetition

extension AdviceTrial {
    /// One run of the command.
    private struct Run {
        var profile: Profile
        /// The CPU time in nanoseconds, or `nil` of an older trace.
        var cpuTime: UInt64?
    }

    /// The sums of the unchanged and of the changed runs.
    private struct Rounds {
        var before: Profile
        var after: Profile
        /// The CPU times of each round; empty if those of the unchanged run are unknown.
        var times: [(before: Double, after: Double)] = []
        /// Why there is one round, in words that follow "Each ran once"; empty without a reason.
        var reason = ""

        init(_ before: Run, _ after: Run) {
            (self.before, self.after) = (before.profile, after.profile)
            if let before = before.cpuTime, let after = after.cpuTime { times = [(Double(before), Double(after))] }
        }

        /// What the times of the comparison are worth.
        var sentence: String {
            guard times.count > 1 else {
                return "Each ran once\(reason), so the times contain the noise of single runs. The counts do not."
            }
            let cpu = PairedTimes(times)
            let (before, after) = (Phrase.duration(cpu.before), Phrase.duration(cpu.after))
            let runs = "\(times.count) runs each, taken in turn"
            if cpu.low < 1, cpu.high > 1 {
                return
                    "The command's CPU time is \(before) before and \(after) after: the difference is within the noise of "
                    + "\(runs)."
            }
            return
                "The command's CPU time is \(before) before and \(after) after, \(Self.factor(cpu.ratio)) "
                + "(\(Self.factor(cpu.low)) to \(Self.factor(cpu.high))): the medians of \(runs)."
        }

        private static func factor(_ ratio: Double) -> String {
            "\(ratio < 1 ? "÷" : "×") \(Phrase.decimal(max(ratio, 1 / ratio), places: 2))"
        }
    }

    /// The most rounds, the seconds after which none begins, and the longest run to repeat.
    private static let mostRounds = 5
    private static let enough = Swift.Duration.seconds(10)
    private static let longest = Swift.Duration.seconds(3)

    /// Runs the command again, unchanged and changed in turn, if that does the same work again.
    ///
    /// A command that writes is not repeated: the store would get its changes each time. The traces of the last round stay.
    private func repeated(_ before: Run, _ after: Run, each: Swift.Duration) throws -> Rounds {
        var rounds = Rounds(before, after)
        guard before.cpuTime != nil else { return rounds }
        guard [before, after].allSatisfy({ $0.profile.totals.writes == 0 }) else {
            rounds.reason = " because the command writes to the store"
            return rounds
        }
        guard each < Self.longest else {
            rounds.reason = " because a run takes more than \(Self.longest.components.seconds) s"
            return rounds
        }
        let start = ContinuousClock.now
        while rounds.times.count < Self.mostRounds, start.duration(to: .now) < Self.enough {
            let isChangedFirst = !rounds.times.count.isMultiple(of: 2)
            let first = try again(isChanged: isChangedFirst, like: isChangedFirst ? after : before)
            let second = try again(isChanged: !isChangedFirst, like: isChangedFirst ? before : after)
            guard let first, let second else {
                if rounds.times.count == 1 { rounds.reason = " because the command does not do the same work again" }
                break
            }
            let (unchanged, changed) = isChangedFirst ? (second, first) : (first, second)
            guard rounds.before.add(unchanged.profile), rounds.after.add(changed.profile) else { break }
            rounds.times.append((Double(unchanged.cpuTime ?? 0), Double(changed.cpuTime ?? 0)))
        }
        return rounds
    }

    /// Repeats a run; `nil` if it fails or does other work than the first.
    private func again(isChanged: Bool, like first: Run) throws -> Run? {
        let recording = try record(isChanged: isChanged, isSilent: true)
        if case .killed = recording.ending { recording.ending.passOn() }
        guard recording.ending == .exited(0), let trace = recording.outcome.trace, recording.outcome.processes > 0
        else {
            return nil
        }
        let profile = try LoadedProfile(path: trace).profile
        let work = { (profile: Profile) in
            [profile.totals.readTrips, profile.totals.rowsLoaded, profile.totals.writes]
        }
        return work(profile) == work(first.profile) ? Run(profile: profile, cpuTime: recording.cpuTime) : nil
    }
}

extension FetchAdvice {
    fileprivate func isFor(_ site: CallSite?) -> Bool { site.map { isFor($0.file, line: $0.line) } ?? false }
}
