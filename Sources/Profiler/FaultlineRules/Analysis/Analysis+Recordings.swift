internal import FaultlineFindings
package import FaultlineProfile
internal import FaultlineTrace

// Rules examine the mean of merged recordings. Only the recordings themselves show how many of them have a finding, so
// each is examined on its own before it is merged.

extension Profile {
    /// The profile of one recording with its findings counted; other profiles as they are.
    package var examined: Profile {
        guard isUnexamined else { return self }
        let findings = Analysis(self).findings.map { finding in
            (
                finding.signature,
                FindingTally(
                    rule: finding.rule, ruleName: finding.ruleName, title: finding.title.text, site: finding.change,
                    grade: finding.severity.rawValue,
                    saving: UInt64(clamping: Int64(saturating: finding.ownSaving.median)))
            )
        }
        return examined(Dictionary(findings) { first, _ in first })
    }
}

extension Finding {
    /// Creates a finding of some recordings that the mean of all does not show.
    fileprivate init(_ tally: FindingTally, signature: String) {
        let isHalf = { (number: UInt64) in Significance.isAtLeastHalf(number, of: tally.recordings) }
        let severity: Severity =
            isHalf(tally.errors) ? .error : isHalf(tally.errors &+ tally.warnings) ? .warning : .note
        let saving = Double(tally.saving) / Double(max(1, tally.recordings))
        self.init(
            rule: tally.rule, ruleName: tally.ruleName, title: Wording(tally.title), change: tally.site,
            severity: severity, fix: "Report one of these recordings to see the evidence.",
            saving: Saving(time: Saving.Range((saving, 0, saving))),
            confidence: .low("the mean of all recordings does not show it"), signature: signature)
        isBeyondMean = true
        seenAt = [Sighting(site: tally.site, count: tally.recordings, time: 0)]
        explanation = ["In the mean of all recordings, it is too small to be reported."]
    }
}

extension Analysis {
    /// The findings with the numbers of recordings in which they occur, and those that only some recordings show.
    ///
    /// - Parameter rules: The rules whose findings the recordings have, too.
    static func counted(_ findings: [Finding], _ rules: [any Rule], in profile: Profile) -> [Finding] {
        guard profile.recordingCount > 1, let tallies = profile.findingTallies else { return findings }
        let rules = Dictionary(rules.map { ($0.id, $0) }) { first, _ in first }
        let shown = Set(findings.map(\.signature))
        let lines = Set(findings.compactMap(\.change))
        let hidden = tallies.ordered(on: \.key).compactMap { signature, tally -> Finding? in
            // A finding that is a note wherever it occurs is dropped: the mean refutes it.
            guard !shown.contains(signature), let rule = rules[tally.rule], tally.warnings > 0 || tally.errors > 0
            else { return nil }
            if rule.givesWay, let site = tally.site, lines.contains(site) { return nil }
            var finding = Finding(tally, signature: signature)
            finding.describeBasis(rule.kinds)
            return finding
        }
        return (findings + hidden).map { finding in
            guard let tally = tallies[finding.signature] else { return finding }
            var finding = finding
            finding.occurrence = Occurrence(recordings: tally.recordings, of: profile.recordingCount)
            let operations = profile.groups.filter { finding.basis.contains($0.key) }.map(\.recordings).max()
            finding.weighOccurrence(among: operations ?? profile.recordingCount)
            return finding
        }
    }
}
