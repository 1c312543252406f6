internal import FaultlineFindings
package import FaultlineProfile
package import FaultlineRules
internal import FaultlineTrace
internal import Foundation

/// The command to run after a document, chosen from its findings.
///
///     Next, measure the advice on a copy of the store: faultline verify trace.json --store …
package struct NextStep: Sendable, Equatable {
    /// A file of the command that printed the document, which the next command reads as well.
    package struct Input: Sendable, Equatable {
        /// The path as a word of a shell command.
        let path: String
        /// The options that both commands share, as words with a space before each.
        let options: String
        /// Whether the file is a profile, which has no events.
        let isProfile: Bool

        /// - Parameters:
        ///   - path: The path of the file.
        ///   - options: The options that both commands share: their names, followed by their values.
        /// - Returns: `nil` for a path that a terminal cannot show as it is.
        package init?(path: String, options: [String] = [], isProfile: Bool = false) {
            let words = [path] + options
            guard words.allSatisfy({ Phrase.printable($0) == $0 }) else { return nil }
            self.path = Self.quoted(path)
            self.options = options.map { " " + Self.quoted($0) }.joined()
            self.isProfile = isProfile
        }

        /// Returns a word for a shell: as it is, or in quotation marks if the shell would change it.
        package static func quoted(_ word: String) -> String {
            let plain = word.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "/._-+,:=@%".unicodeScalars.contains(scalar)
            }
            if plain, !word.isEmpty, !word.hasPrefix("-") { return word }
            if word.hasPrefix("-"), plain { return word.hasPrefix("--") ? word : "./" + word }
            return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
        }
    }

    /// The purpose of the command, in words that follow "Next,".
    let purpose: String
    let command: String

    init(_ purpose: String, _ command: String) {
        (self.purpose, self.command) = (purpose, command)
    }

    /// The line at the end of a document.
    package var line: String { "Next, \(purpose): \(command)" }
}

// One function for each document. An ellipsis stands for what only the user knows: a store, or the program's command.

extension NextStep {
    /// Returns the step after a report.
    package static func after(_ analysis: Analysis, _ trace: Input) -> NextStep? {
        let profile = analysis.profile
        guard profile.totals.eventCount > 0 else { return nil }
        if analysis.findings.contains(where: { $0.severity > .note && $0.remedy != nil }) {
            let store = profile.mainDatabase.flatMap { Phrase.printable($0) == $0 ? Input.quoted($0) : nil } ?? "…"
            return NextStep(
                "measure the advice on a copy of the store",
                "faultline verify \(trace.path) --store \(store)\(trace.options)")
        }
        if !analysis.findings.isEmpty { return explaining(1, of: trace) }
        if !profile.cpuTimes.isEmpty {
            guard !trace.isProfile else { return nil }
            return NextStep("see what used the CPU", "faultline tree \(trace.path) --weight cpu --bottom-up")
        }
        // Logs of other tools were not recorded by a command that could be run again.
        guard profile.allProcesses.lacks(.counters) else { return samplingCPU }
        return trace.isProfile ? nil : NextStep("list the events", "faultline events \(trace.path)")
    }

    /// Returns the step after a check.
    ///
    /// - Parameters:
    ///   - analysis: The checked analysis.
    ///   - baseline: The baseline of the check, or `nil` if it had none.
    package static func after(
        _ check: BudgetCheck, of analysis: Analysis, _ trace: Input, baseline: Input?
    ) -> NextStep? {
        guard !check.isEmpty else { return nil }
        let failing = check.findings.first { $0.state.isFailing }?.finding
        if let number = failing.flatMap({ analysis.number(of: $0) }) { return explaining(number, of: trace) }
        if check.outcomes.contains(where: { !$0.isMet }) {
            return NextStep("see where the time went", "faultline report \(trace.path) --by scope\(trace.options)")
        }
        guard let baseline else {
            return NextStep("see where the time goes", "faultline report \(trace.path)\(trace.options)")
        }
        return NextStep("see what changed", "faultline diff \(baseline.path) \(trace.path)\(trace.options)")
    }

    /// Returns the step after a comparison.
    package static func after(_ diff: ProfileDiff, before: Input, _ after: Input) -> NextStep? {
        let new = diff.findings.first { $0.state == .new }?.after
        if let number = new.flatMap({ diff.after.number(of: $0) }) { return explaining(number, of: after) }
        if diff.operations.contains(where: { $0.verdict == .worse }), !after.isProfile {
            return NextStep("see which requests take the time", "faultline tree \(after.path) --weight time --by shape")
        }
        if diff.after.findings.contains(where: { $0.severity > .note }) { return explaining(1, of: after) }
        return NextStep(
            "fail a build that has new findings",
            "faultline check \(after.path) --baseline \(before.path)\(after.options)")
    }

    /// Returns the step after trying the advice of a trace.
    package static func after(_ verification: Verification, _ trace: Input) -> NextStep? {
        let helps = verification.trials.contains { [.confirmed, .more, .less].contains($0.outcome) }
        if helps {
            return NextStep(
                "make the change, record again, and compare", "faultline diff \(trace.path) …\(trace.options)")
        }
        return verification.trials.isEmpty ? nil : explaining(1, of: trace)
    }

    /// Returns the step after the inspection of a store.
    package static func after(_ inspection: StoreInspection, _ store: Input, hasTrace: Bool) -> NextStep? {
        let rules = Set(RulePage.all.map(\.id))
        if let rule = inspection.findings.first(where: { rules.contains($0.rule) })?.rule {
            return NextStep("read how \(rule) judges a store", "faultline explain \(rule)")
        }
        guard !hasTrace, inspection.facts.tables.contains(where: { $0.rows > 0 }) else { return nil }
        return NextStep("record a program that uses the store", "faultline record -- …")
    }

    /// Returns the step after a call tree.
    package static func after(_ tree: CallTree, _ trace: Input) -> NextStep? {
        guard tree.total > 0 else {
            switch tree.weight {
            case .cpu: return samplingCPU
            case .allocations, .live: return NextStep("sample the allocations", "faultline record --allocations -- …")
            case .time, .trips, .rows, .bytes: return nil
            }
        }
        // Without call paths, there is nothing to turn around.
        guard tree.direction == .topDown, tree.unknown < tree.total else {
            return NextStep("see when it happened", "faultline timeline \(trace.path)\(trace.options)")
        }
        return NextStep(
            "begin with the functions that ran",
            "faultline tree \(trace.path) --weight \(tree.weight.rawValue) --bottom-up\(trace.options)")
    }

    /// Returns the step after a timeline.
    package static func afterTimeline(_ trace: Input) -> NextStep {
        NextStep("see which code took the time", "faultline tree \(trace.path)\(trace.options)")
    }

    /// Returns the step after the explanation of a finding.
    package static func afterExplaining(_ number: Int, of trace: Input) -> NextStep? {
        trace.isProfile
            ? nil
            : NextStep(
                "see when its events happened", "faultline timeline \(trace.path) --finding \(number)\(trace.options)")
    }

    private static func explaining(_ number: Int, of trace: Input) -> NextStep {
        NextStep(
            "see the events and the code of finding \(number)",
            "faultline explain \(trace.path) \(number)\(trace.options)")
    }

    private static let samplingCPU = NextStep("sample the CPU time", "faultline record --cpu -- …")
}

extension Analysis {
    /// The number of a finding in the report, from 1 on.
    fileprivate func number(of finding: Finding) -> Int? {
        findings.firstIndex { $0.signature == finding.signature }.map { $0 + 1 }
    }
}
