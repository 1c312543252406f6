internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
package import FaultlineRules
internal import FaultlineTrace

/// A comparison of two profiles as text for a terminal: regressions, new operations, improvements, removed operations.
package struct DiffText: Sendable {
    let diff: ProfileDiff
    /// The maximum number of operations shown for each verdict.
    static let shown = 8
    /// The minimum factor by which a run counts as slower or faster.
    private static let minimumPace = 1.1
    /// The ratio up to which an undetectable change of time is not mentioned.
    ///
    /// No two runs can show smaller changes.
    private static let visibleRatio = 1.3
    /// An operation that shows only changes of at least this ratio ran too rarely to judge its time.
    private static let largestRatio = 20.0

    /// The verdicts on operations, in the order in which they are shown.
    static let verdicts: [(ProfileDiff.Verdict, title: String, tone: Ink.Tone)] = [
        (.worse, "Worse", .red), (.new, "New", .yellow), (.traded, "Better in one thing, worse in another", .yellow),
        (.better, "Better", .green), (.gone, "Gone", .green),
    ]

    package init(_ diff: ProfileDiff) {
        self.diff = diff
    }

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–120.
    ///   - colour: Whether to colour the text for a terminal.
    package func render(width: Int = 100, colour: Bool = false) -> String {
        let width = TextPage.width(width, atMost: 120)
        let ink = Ink(isColoured: colour)
        var sections = [totals(ink, width)]
        for (verdict, title, tone) in Self.verdicts { sections.append(operations(verdict, title, ink, tone, width)) }
        for samples in diff.samples { sections.append(functions(samples, ink, width)) }
        sections += [scopes(ink, width), plans(ink, width), findings(ink, width), [same] + sensitivity(width)]
        return TextPage.joined(sections, ink)
    }

    /// The totals that both sides have, before and after, with their changes.
    var totalRows: [[String]] {
        let names = [
            "time": "time in the store", "longestOperation": "longest operation", "trips": "round trips",
            "rows": "rows loaded", "bytes": "bytes read", "bytesWritten": "bytes written",
            "writes": "statements that write", "cpu": "CPU time, sampled", "allocated": "bytes allocated, sampled",
        ]
        let samples = diff.samples.compactMap { samples in
            samples.all.map {
                ProfileDiff.Figure(
                    name: samples.unit == .bytes ? "allocated" : "cpu", before: $0.before.amount, after: $0.after.amount
                )
            }
        }
        return (diff.totals + samples).filter { $0.before > 0 || $0.after > 0 }.map { figure in
            [
                names[figure.name] ?? figure.name, words(figure.name, figure.before, diff.traces.before),
                words(figure.name, figure.after, diff.traces.after), change(figure),
            ]
        }
    }

    // MARK: - Parts

    private func totals(_ ink: Ink, _ width: Int) -> [String] {
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "before", alignment: .right),
            .init(title: "after", alignment: .right), .init(title: "", alignment: .left),
        ])
        for row in totalRows { table.add(row) }
        var text = [ink(.bold, "Before and after") + ink(.dim, sides)] + table.section(ink, width: width)
        if let pace { text += Phrase.wrapped(pace, width: width - 2).map { "  " + ink(.dim, $0) } }
        return text
    }

    /// A sentence about the pace of the whole run, if it exceeds the difference between any two runs.
    var pace: String? {
        let ratio = max(diff.pace, 1 / diff.pace)
        guard ratio >= Self.minimumPace else { return nil }
        return
            "The run's times are \(diff.pace > 1 ? "×" : "÷") \(Phrase.decimal(ratio, places: 2)) throughout, as "
            + "on another machine or under other load. The operations below are compared after dividing this factor out."
    }

    /// The number of traces on each side, if there are several.
    var sides: String {
        let (before, after) = diff.traces
        guard before > 1 || after > 1 else { return "" }
        return "  (per trace: the mean of \(Phrase.count(before)) before, of \(Phrase.count(after)) after)"
    }

    private func operations(
        _ verdict: ProfileDiff.Verdict, _ title: String, _ ink: Ink, _ tone: Ink.Tone, _ width: Int
    ) -> [String] {
        let all = diff.operations.filter { $0.verdict == verdict }
        guard !all.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "kind", alignment: .left), .init(title: "what", alignment: .left, losing: .middle),
            .init(title: "what changed", alignment: .left),
            .init(title: "call site", alignment: .left, losing: .beginning),
        ])
        for operation in all.prefix(Self.shown) {
            guard let group = operation.group else { continue }
            table.add([
                GroupText.kind(group.key), GroupText.subject(group.key), changes(of: operation),
                location(of: operation),
            ])
        }
        let rest = all.count - Self.shown
        let more = rest > 0 ? "  (\(Phrase.count(UInt64(rest))) more)" : ""
        return [ink(tone, title) + ink(.dim, more)] + table.section(ink, width: width)
    }

    /// The counts that changed, or else the time: `trips 2 → 48, rows 100 → 4,800`.
    func changes(of operation: ProfileDiff.Operation) -> String {
        switch operation.verdict {
        case .new, .gone:
            guard let group = operation.group else { return "" }
            let traces = operation.after == nil ? diff.traces.before : diff.traces.after
            let count = words("count", group.count, traces)
            let number = words("trips", group.counts.trips, traces)
            let trips = group.counts.trips > 0 ? ", \(number) \(number == "1" ? "trip" : "trips")" : ""
            return "\(count) ×\(trips), \(words("time", group.totalTime, traces))"
        case .worse, .better, .traded, .same:
            let counts = operation.changes.prefix(2).map { figure in
                let before = words(figure.name, figure.before, diff.traces.before)
                return "\(label(figure.name)) \(before) → \(words(figure.name, figure.after, diff.traces.after))"
            }
            guard let time = operation.time, time.direction != .same else { return counts.joined(separator: ", ") }
            return (counts + ["p50 \(Phrase.duration(time.before.value)) → \(Phrase.duration(time.after.value))"])
                .joined(separator: ", ")
        }
    }

    /// The functions whose samples changed, or a sentence about samples that could not be compared.
    private func functions(_ samples: SampleDiff, _ ink: Ink, _ width: Int) -> [String] {
        let (title, name) = samples.unit == .bytes ? ("Allocations", "allocated") : ("CPU time", "cpu")
        guard let all = samples.all else {
            let reason =
                "Only one of the two was recorded with \(samples.unit == .bytes ? "--allocations" : "--cpu"), so this is not compared."
            return [ink(.bold, title)] + Phrase.wrapped(reason, width: width - 2).map { "  " + $0 }
        }
        guard !samples.isUnchanged else {
            return [ink(.bold, title), "  No change beyond the noise of \(count(all)) samples."]
        }
        var table = TextTable([
            .init(title: "function", alignment: .left, losing: .middle), .init(title: "before", alignment: .right),
            .init(title: "after", alignment: .right), .init(title: "", alignment: .left),
            .init(title: "file", alignment: .left, losing: .beginning),
        ])
        for change in ([all].filter(\.isChange) + samples.functions).prefix(Self.shown) {
            let figure = ProfileDiff.Figure(name: name, before: change.before.amount, after: change.after.amount)
            table.add([
                change.function?.function ?? "all", words(name, figure.before, diff.traces.before),
                words(name, figure.after, diff.traces.after), self.change(figure),
                String(change.function?.fileName ?? ""),
            ])
        }
        let more = Phrase.wrapped(
            "Functions that called the code, with changes beyond the noise of \(count(all)) samples.", width: width - 2)
        return [ink(.bold, title)] + table.section(ink, width: width) + more.map { "  " + ink(.dim, $0) }
    }

    private func count(_ all: SampleChange) -> String {
        "\(Phrase.count(all.before.samples)) and \(Phrase.count(all.after.samples))"
    }

    func location(of operation: ProfileDiff.Operation) -> String {
        let (before, after) = (operation.before?.key.site, operation.after?.key.site)
        guard let before, let after, before != after else { return (after ?? before)?.description ?? "–" }
        return before.fileName == after.fileName
            ? "\(after) (was :\(before.line))" : "\(after) (was \(before))"
    }

    var changedScopes: [(key: ScopeSummary.Key, figures: [ProfileDiff.Figure])] {
        diff.scopes.filter { scope in
            scope.figures.contains { $0.name != "storeTime" && $0.order(diff.traces) != 0 }
        }
    }

    private func scopes(_ ink: Ink, _ width: Int) -> [String] {
        let changed = changedScopes
        guard !changed.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "scope", alignment: .left, losing: .middle), .init(title: "count", alignment: .right),
            .init(title: "trips", alignment: .right), .init(title: "time in the store", alignment: .right),
        ])
        for scope in changed {
            table.add([scope.key.name] + scope.figures.map(movement))
        }
        return [ink(.bold, "Scopes")] + table.section(ink, width: width)
    }

    /// A figure on both sides, or once if it did not change: `2 → 48`.
    func movement(_ figure: ProfileDiff.Figure) -> String {
        let name = figure.name == "storeTime" ? "time" : figure.name
        let before = words(name, figure.before, diff.traces.before)
        let after = words(name, figure.after, diff.traces.after)
        return before == after ? after : "\(before) → \(after)"
    }

    private func plans(_ ink: Ink, _ width: Int) -> [String] {
        guard !diff.plans.isEmpty else { return [] }
        var text = [ink(.bold, "SQLite's plans")]
        for change in diff.plans.prefix(Self.shown) {
            text.append("  fetch \(GroupText.shape(change.shape))  \(ink(.dim, change.site?.description ?? "–"))")
            for (word, plans) in [("was", change.before), ("is", change.after)] {
                for plan in plans {
                    let line = "\(word): \(Phrase.plan(plan))"
                    text += Phrase.wrapped(line, width: width - 6).map { "      " + $0 }
                }
            }
        }
        return text
    }

    private func findings(_ ink: Ink, _ width: Int) -> [String] {
        guard !diff.findings.isEmpty else { return [] }
        var text = [ink(.bold, "Findings")]
        for change in diff.findings {
            guard let finding = change.finding else { continue }
            let word = change.state.rawValue
            let tone: Ink.Tone = change.state == .new ? .red : change.state == .gone ? .green : .dim
            let location = finding.change?.description ?? "call site unknown"
            let title = "\(severity(of: change))  \(finding.rule) \(finding.title)"
            let cut = TextTable.shortened(title, to: width - location.count - 11)
            let gap = String(repeating: " ", count: max(2, width - 9 - cut.count - location.count))
            let state = word + String(repeating: " ", count: 7 - word.count)
            text.append("  \(ink(tone, state))\(cut)\(gap)\(ink(.dim, location))")
        }
        return text
    }

    /// The severity after the change, preceded by the one before if it differs.
    func severity(of change: ProfileDiff.FindingChange) -> String {
        guard let finding = change.finding else { return "" }
        guard let before = change.before, let after = change.after, before.severity != after.severity else {
            return finding.severity.name
        }
        return "\(before.severity.name) → \(after.severity.name)"
    }

    private var isUnchanged: Bool {
        diff.operations.allSatisfy { $0.verdict == .same } && diff.plans.isEmpty
            && diff.samples.allSatisfy(\.isUnchanged)
            && diff.findings.allSatisfy { $0.state == .still } && changedScopes.isEmpty
    }

    var same: String {
        let count = diff.operations.count { $0.verdict == .same }
        let verb = count == 1 ? "is" : "are"
        guard !diff.operations.isEmpty else { return "Neither side has an operation." }
        guard count > 0 else { return "No operation is the same." }
        return isUnchanged
            ? "Nothing changed: \(Phrase.count(UInt64(count), "operation")) \(verb) the same, in counts exactly and in time "
                + "within noise."
            : count == diff.operations.count
                ? "All operations are the same." : "\(Phrase.count(UInt64(count), "operation")) \(verb) the same."
    }

    /// Sentences about changes of time that are too small for these runs to show.
    func sensitivity(_ width: Int) -> [String] {
        let ratios = diff.operations.filter { $0.verdict == .same }.compactMap { $0.time?.minimumRatio }
            .filter { $0 > Self.visibleRatio }
        guard !ratios.isEmpty else { return [] }
        let visible = ratios.filter { $0 < Self.largestRatio }
        var sentences: [String] = []
        if let least = visible.min(), let most = visible.max() {
            let (from, to) = (Phrase.decimal(least, places: 1), Phrase.decimal(most, places: 1))
            sentences.append(
                "\(Phrase.count(UInt64(visible.count))) of them would show a change in time only if it were at least "
                    + "\(from == to ? from : "\(from)–\(to)") ×; less is within the noise.")
        }
        let others = ratios.count - visible.count
        if others > 0 {
            sentences.append(
                "\(Phrase.count(UInt64(others))) of them ran too rarely to judge \(others == 1 ? "its" : "their") time."
            )
        }
        if min(diff.traces.before, diff.traces.after) == 1 {
            sentences.append("Sums of several runs (faultline merge) show smaller changes.")
        }
        let text = sentences.joined(separator: " ")
        return Phrase.wrapped(text, width: width)
    }
}

// The wording of figures in a comparison, for all formats.

extension DiffText {
    func words(_ name: String, _ value: UInt64, _ traces: UInt64) -> String {
        let mean = Double(value) / Double(traces)
        switch name {
        case "longestOperation": return Phrase.duration(value)
        case "time", "cpu": return Phrase.duration(mean)
        case "bytes", "bytesWritten", "allocated": return Phrase.size(mean)
        default: return value % traces == 0 ? Phrase.count(value / traces) : Phrase.decimal(mean, places: 1)
        }
    }

    func label(_ name: String) -> String {
        switch name {
        case "fullScanSteps": "scan steps"
        case "automaticIndexes": "automatic indexes"
        case "prefetchedRows": "prefetched rows"
        default: name
        }
    }

    func change(_ figure: ProfileDiff.Figure) -> String {
        let before = Double(figure.before) / Double(diff.traces.before)
        let after = Double(figure.after) / Double(diff.traces.after)
        guard before > 0, after > 0, before != after else { return before == after ? "same" : "" }
        let ratio = max(before, after) / min(before, after)
        if ratio < 1.005 { return "" }
        return (before > after ? "÷ " : "× ") + Phrase.decimal(ratio, places: ratio < 9.95 ? 2 : 1)
    }
}

extension ProfileDiff: PageDocumented {
    package func text(_ layout: Layout) -> String {
        DiffText(self).render(width: layout.width, colour: layout.isColoured)
    }
}
