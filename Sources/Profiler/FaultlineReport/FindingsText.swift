internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The section of a report with the findings.
struct FindingsText {
    let findings: [Finding]
    /// Whether to state the saving of each change.
    var showsSavings = true
    /// Whether to show every finding in full.
    var showsAll = false

    /// Follows the heading of figures that are means of merged recordings.
    static let meanMark = "  (means of one recording)"

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        guard !findings.isEmpty else { return [] }
        let full = fullCount
        let isMean = findings.contains { $0.occurrence != nil }
        var text = [ink(.bold, "What to change") + (isMean ? ink(.dim, Self.meanMark) : "")]
        for (index, finding) in findings.prefix(full).enumerated() {
            text += self.full(finding, number: index + 1, ink, width)
        }
        if findings.count > full {
            text.append("  " + ink(.dim, "Also"))
            for (index, finding) in findings.enumerated().dropFirst(full) {
                text += short(finding, number: index + 1, ink, width)
            }
        }
        return text
    }

    /// The number of findings shown in full: every error, and others up to a limit.
    ///
    /// Notes count only if there is nothing else.
    var fullCount: Int {
        if showsAll { return findings.count }
        // Errors come first, then warnings.
        let errors = findings.prefix { $0.severity == .error }.count
        let serious = findings.prefix { $0.severity > .note }.count
        return max(1, errors, min(TextReport.fullFindings, serious == 0 ? findings.count : serious))
    }

    /// Returns a finding in full.
    func full(_ finding: Finding, number: Int, _ ink: Ink, _ width: Int) -> [String] {
        let tone: Ink.Tone = finding.severity == .error ? .red : finding.severity == .warning ? .yellow : .dim
        var text = Self.head(finding, "\(number). \(finding.severity.name)", tone, ink, width)
        let sentences = finding.explanation.prefix(showsAll ? .max : 2).map(\.text) + [Self.locations(finding)]
        text += Self.body(sentences.filter { !$0.isEmpty }.joined(separator: " "), width: width)
        if let curve = finding.batchCurve {
            text += BatchCurveText(curve: curve).lines(width: width - 7).map { "       " + $0 }
        }
        for (index, line) in finding.code.enumerated() {
            text += [(index == 0 ? "     → " : "       ") + ink(.green, line)]
        }
        if finding.code.isEmpty { text += Self.body(finding.fix.text, lead: "→ ", width: width) }
        for other in finding.alternatives { text += Self.body("or: \(other)", lead: "  ", width: width) }
        let remarks = (showsSavings ? [Self.saving(finding)] : []) + finding.reservations.map(\.text)
        return remarks.isEmpty ? text : text + Self.body(remarks.joined(separator: " "), width: width)
    }

    /// The first lines of a finding: a label, the rule and the line to change, then the title.
    static func head(_ finding: Finding, _ label: String, _ tone: Ink.Tone, _ ink: Ink, _ width: Int) -> [String] {
        let location = finding.change?.description ?? "call site unknown"
        let head = "  \(label)  \(finding.rule) \(finding.ruleName)"
        let gap = String(repeating: " ", count: max(2, width - head.count - location.count))
        return ["  \(ink(tone, label))  \(finding.rule) \(finding.ruleName)\(gap)\(ink(.bold, location))"]
            + body("\(finding.title).", width: width).map { ink(.bold, $0) }
    }

    /// Lines of text below a finding's head.
    ///
    /// - Parameter lead: The text before the first line.
    static func body(_ words: String, lead: String = "", width: Int) -> [String] {
        Phrase.wrapped(words, width: width - 5 - lead.count).enumerated().map { index, line in
            "     " + (index == 0 ? lead : String(repeating: " ", count: lead.count)) + line
        }
    }

    /// A sentence with the other places at which the problem was observed.
    private static func locations(_ finding: Finding) -> String {
        let sites = finding.seenAt.compactMap(\.site).filter { $0 != finding.change }
        guard !sites.isEmpty else { return "" }
        let more = sites.count > 3 ? " and \(sites.count - 3) more" : ""
        return "Observed at " + sites.prefix(3).map(\.description).joined(separator: ", ") + more + "."
    }

    /// A finding in one line.
    ///
    /// Text that does not fit next to the place continues below.
    private func short(_ finding: Finding, number: Int, _ ink: Ink, _ width: Int) -> [String] {
        let saving = finding.saving
        let isIdle = showsSavings && saving.time.median == 0 && saving.pause == nil
        let reservation = isIdle ? finding.reservations.first.map { ". \($0)" } ?? "" : ""
        let remark = (finding.occurrence.map { ", in \($0.wording.text)" } ?? "") + reservation
        let location = TextTable.shortened(finding.change?.description ?? "call site unknown", to: width / 2)
        let rank = "\(number). \(finding.severity.name)"
        let room = width - location.count - rank.count - 6
        let lines = Phrase.wrapped("\(finding.rule) \(finding.title)\(remark)", width: room)
        return lines.enumerated().map { index, title in
            guard index == 0 else { return String(repeating: " ", count: rank.count + 4) + title }
            let line = "\(rank)  \(title)"
            return "  " + line + String(repeating: " ", count: max(2, width - 2 - line.count - location.count))
                + ink(.dim, location)
        }
    }

    /// The predicted saving, without bytes if they are few.
    ///
    ///     Saves 1.10 ms (1.05–1.15 ms), 13 % of the run, 99 trips. Confidence: high.
    /// For merged recordings, a sentence about the number of those with the finding comes first.
    static func saving(_ finding: Finding) -> String {
        (finding.occurrence.map { "Occurs in \($0.wording.text). " } ?? "") + savingAlone(finding)
    }

    private static func savingAlone(_ finding: Finding) -> String {
        let saving = finding.saving
        var parts: [String] = []
        let alone = saving.alone.flatMap { $0.median > 0 ? $0 : nil }
        if let time = alone ?? (saving.time.median > 0 ? saving.time : nil) {
            let share = finding.share >= 0.01 ? ", \(Phrase.percent(finding.share)) of the run" : ""
            parts.append(saved(time) + share)
        }
        if saving.trips > 0 { parts.append(Phrase.count(UInt64(saving.trips), "trip")) }
        if saving.rows > 0 { parts.append(Phrase.count(UInt64(saving.rows), "row")) }
        if saving.bytes >= 65_536 { parts.append("\(Phrase.size(Double(saving.bytes))) of reading") }
        if saving.memory >= 65_536 { parts.append("\(Phrase.size(Double(saving.memory))) of peak object memory") }
        var text = parts.isEmpty ? "" : "Saves " + parts.joined(separator: ", ")
        if let pause = saving.pause, pause.median > 0 {
            text =
                (text.isEmpty ? "Shortens" : text + ", and shortens") + " each wait by "
                + saved(pause)
        }
        if text.isEmpty { text = "Saves no time that could be estimated" }
        if saving.trips < 0 {
            text += ", at the price of \(Phrase.count(UInt64(-saving.trips), "more trip"))"
            if let time = extraTime(finding) { text += " and \(Phrase.duration(time)) more in all" }
        }
        if alone != nil {
            text += "; " + rest(saving)
        } else if !saving.after.isEmpty {
            text += "; \(others(saving)) already \(saving.after.count == 1 ? "saves" : "save") part of this"
        }
        let confidence = finding.confidence
        let reason = confidence.level == .low ? confidence.reason.map { ", because \($0)" } ?? "" : ""
        return text + ". Confidence: \(confidence.level)\(reason)."
    }

    /// A saved time: `1.10 ms (1.05–1.15 ms)`, or `up to 1.89 s` if it may be nothing.
    private static func saved(_ time: Saving.Range) -> String {
        time.low > 0 ? Phrase.duration(time) : "up to \(Phrase.duration(time.high))"
    }

    /// The time by which a smaller batch size takes longer in all, in nanoseconds; `nil` if it counts as the same time.
    private static func extraTime(_ finding: Finding) -> Double? {
        guard let curve = finding.batchCurve, !curve.plateau.contains(curve.advised),
            let now = curve[curve.current], let advised = curve[curve.advised], advised.cost > now.cost
        else { return nil }
        return advised.cost - now.cost
    }

    /// The part of a saving that remains after other findings with the same claim: `2.00 ms of it after finding 1`.
    private static func rest(_ saving: Saving) -> String {
        let isNotable = saving.time.median * 100 >= (saving.alone?.median ?? 0)
        return "\(isNotable ? Phrase.duration(saving.time.median) : "none") of it after \(others(saving))"
    }

    /// The findings with the same claim: `findings 1 and 3`.
    private static func others(_ saving: Saving) -> String {
        let numbers = saving.after.map { "\($0)" }
        return numbers.count == 1
            ? "finding \(numbers[0])"
            : "findings \(numbers.dropLast().joined(separator: ", ")) and \(numbers.last ?? "")"
    }
}

/// The cost of each batch size, as a small table.
///
///     batch size        5  15 advised       20   50 now      100      all
///     one batch    217 µs      631 µs   837 µs  2.08 ms  4.15 ms  4.15 ms
///     Sizes 5–100 take the same total time within 10 %.
struct BatchCurveText {
    let curve: BatchCurve

    /// The sizes shown in addition to the current size, the advised one and all rows.
    ///
    /// The last ones are omitted first.
    private static let sizes: [UInt64] = [5, 100, 20, 500, 50, 5000]

    /// - Parameter width: The maximum number of characters in a line.
    func lines(width: Int) -> [String] {
        var others = Self.sizes.filter { size in
            guard let point = curve[size], let whole = curve[0] else { return false }
            return size != curve.current && size != curve.advised && point.wait < whole.wait
        }
        while true {
            let lines = table(others).lines(width: .max)
            if others.isEmpty || lines.allSatisfy({ $0.count <= width }) { return lines + equal(width) }
            others.removeLast()
        }
    }

    private func table(_ others: [UInt64]) -> TextTable {
        let shown = curve.points.filter { point in
            point.batchSize == curve.current || point.batchSize == curve.advised || point.batchSize == 0
                || others.contains(point.batchSize)
        }
        var table = TextTable(
            [.init(title: "batch size", alignment: .left)]
                + shown.map { .init(title: title($0.batchSize), alignment: .right) })
        table.add(["one batch"] + shown.map { Phrase.duration($0.wait) })
        let batched = shown.map(\.batchSize).filter { $0 > 0 }
        // If all sizes take the same total time, a sentence says so.
        if curve.equalSizes == nil || !Set(batched).isSubset(of: curve.plateau) {
            table.add(["total"] + shown.map { Phrase.duration($0.cost) })
        }
        return table
    }

    private func title(_ size: UInt64) -> String {
        let mark = size == curve.current ? " now" : size == curve.advised ? " advised" : ""
        return (size == 0 ? "all" : Phrase.count(size)) + mark
    }

    private func equal(_ width: Int) -> [String] {
        curve.equalSizes.map { Phrase.wrapped("\($0).", width: width) } ?? []
    }
}

/// The section of a report that projects the time of fetches to more data.
struct GrowthText {
    let analysis: Analysis
    /// Whether to show all projections.
    var showsAll = false
    /// The maximum number of fetches shown.
    static let shown = 3
    /// The minimum time with a hundred times the rows for a fetch to be shown, in nanoseconds: a frame at 60 Hz.
    static let least = 16_000_000.0

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        let all = analysis.profile.fetches.compactMap { fetch in
            Growth(fetch, costs: analysis.costs).map { (fetch: fetch, growth: $0, most: $0.time(with: 100).high) }
        }.filter { $0.growth.order != .logarithmic && $0.most >= Self.least }
        guard !all.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "fetch", alignment: .left, losing: .middle), .init(title: "grows as", alignment: .left),
            .init(title: "now", alignment: .right), .init(title: "10 × the rows", alignment: .right),
            .init(title: "100 ×", alignment: .right), .init(title: "call site", alignment: .left, losing: .beginning),
        ])
        let ranked = all.ordered {
            ($0.most, $1.fetch.key.site?.description ?? "") > ($1.most, $0.fetch.key.site?.description ?? "")
        }
        for (fetch, growth, _) in ranked.prefix(showsAll ? .max : Self.shown) {
            table.add([
                GroupText.shape(fetch.key.shape), growth.order.rawValue, Phrase.duration(growth.now.median),
                Phrase.span(growth.time(with: 10)), Phrase.span(growth.time(with: 100)),
                fetch.key.site?.description ?? "–",
            ])
        }
        let more = all.count > Self.shown && !showsAll ? ink(.dim, "  (\(all.count - Self.shown) more)") : ""
        return [ink(.bold, "With more data") + more] + table.section(ink, width: width)
    }
}
