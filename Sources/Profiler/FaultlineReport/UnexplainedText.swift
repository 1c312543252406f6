internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The section of a report with the work that no finding explains.
struct UnexplainedText {
    let works: [UnexplainedWork]
    /// Whether to show more than the longest ones.
    var showsAll = false
    /// Whether the figures are means of several recordings.
    var isMean = false

    /// The most operations, unless all are shown.
    private static let most = 3

    static let heading = "Not explained"

    /// Those to show.
    var shown: [UnexplainedWork] { Array(works.prefix(showsAll ? .max : Self.most)) }

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        guard !works.isEmpty else { return [] }
        var text = [ink(.bold, Self.heading) + (isMean ? ink(.dim, FindingsText.meanMark) : "")]
        for work in shown {
            let site = work.group.key.site?.description ?? "call site unknown"
            let what = TextTable.shortened(Self.name(work), to: max(20, width - site.count - 5))
            let gap = String(repeating: " ", count: max(2, width - 2 - what.count - site.count))
            text.append("  " + what + gap + ink(.bold, site))
            text += FindingsText.body(Self.sentences(work).map(\.text).joined(separator: " "), width: width)
        }
        let rest = works.count - shown.count
        return text + (rest > 0 ? ["  " + ink(.dim, "\(Phrase.count(UInt64(rest))) more")] : [])
    }

    /// The kind and the subject: `fetch Item by name`, or the text of a statement.
    static func name(_ work: UnexplainedWork) -> String {
        let subject = GroupText.subject(work.group.key)
        return work.group.key.kind == .sql ? subject : "\(GroupText.kind(work.group.key)) \(subject)"
    }

    static func sentences(_ work: UnexplainedWork) -> [Wording] {
        let others = work.otherSites
        guard !others.isEmpty else { return work.explanation }
        let sites = others.prefix(3).map { "\(site: $0)" as Wording }
        let more: Wording = others.count > 3 ? " and \(count: others.count - 3) more" : ""
        return work.explanation + ["Also at \(sites.joined(separator: ", "))\(more)."]
    }
}
