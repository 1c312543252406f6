internal import FaultlineFindings
internal import FaultlineProfile
package import FaultlineTrace

/// The section of a report that shows where the CPU time went, if it was sampled.
struct CPUText {
    let profile: Profile
    /// Whether to show every scope and call path.
    let showsAll: Bool

    private typealias Times = [CodePart: UInt64]

    /// The CPU time in one line, or `nil` if it was not sampled: `CPU: 1.57 s, 72 % of it in the program`.
    var summary: String? {
        let sums = profile.cpuTimeByPart
        let total = sums.values.reduce(0, &+)
        guard total > 0 else { return nil }
        let share = Phrase.percent(Double(sums[.program] ?? 0) / Double(total))
        return "CPU: \(Phrase.duration(total)), \(share) of it in the program"
    }

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        let times = profile.cpuTimes
        let total = times.reduce(0) { $0 &+ $1.time.time }
        guard total > 0 else { return [] }
        let samples = times.reduce(0) { $0 &+ $1.time.samples }
        let title =
            ink(.bold, "CPU time") + "  (\(Phrase.duration(total)) in \(Phrase.count(samples, "sample")))"
        return [title] + parts(total, ink, width) + scopes(total, ink, width) + paths(total, ink, width)
    }

    // MARK: - Parts

    private func parts(_ total: UInt64, _ ink: Ink, _ width: Int) -> [String] {
        let sums = profile.cpuTimeByPart
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "time", alignment: .right),
            .init(title: "share", alignment: .right), .init(title: "", alignment: .left),
        ])
        for part in CodePart.allCases {
            guard let time = sums[part], time > 0 else { continue }
            let share = Double(time) / Double(total)
            let bar = String(repeating: "█", count: Int((share * 20).rounded()))
            table.add([part.title, Phrase.duration(time), Phrase.percent(share), bar])
        }
        return table.section(ink, width: width)
    }

    // MARK: - Scopes

    private func scopes(_ total: UInt64, _ ink: Ink, _ width: Int) -> [String] {
        var sums: [ScopeSummary.Key?: Times] = [:]
        for (path, time) in profile.cpuTimes { sums[path.scope, default: [:]][path.part, default: 0] &+= time.time }
        guard sums.keys.contains(where: { $0 != nil }) else { return [] }
        let time = { (times: Times) in times.values.reduce(0, &+) }
        let sorted = sums.ordered { (time($0.value), $1.key?.name ?? "") > (time($1.value), $0.key?.name ?? "") }
        let shown = sorted.prefix(showsAll ? .max : SampleText.rows)
        let parts: [CodePart] = [.program, .store, .sqlite]
        var table = TextTable(
            [
                .init(title: "scope", alignment: .left, losing: .middle), .init(title: "time", alignment: .right),
                .init(title: "share", alignment: .right),
            ] + parts.map { .init(title: $0.title, alignment: .right) })
        for (scope, times) in shown {
            let sum = time(times)
            table.add(
                [
                    scope.map(SampleText.name) ?? "outside any scope", Phrase.duration(sum),
                    Phrase.percent(Double(sum) / Double(total)),
                ] + parts.map { Phrase.percent(Double(times[$0] ?? 0) / Double(max(1, sum))) })
        }
        return [""] + table.section(ink, width: width) + SampleText.rest(sorted.count - shown.count, "scope", ink)
    }

    // MARK: - Call paths

    /// The hottest call paths outside the store: the innermost functions of the program with those that called them.
    private func paths(_ total: UInt64, _ ink: Ink, _ width: Int) -> [String] {
        var sums: [[CallSite]: UInt64] = [:]
        for (path, time) in profile.cpuTimes where path.part == .program && !path.functions.isEmpty {
            sums[path.functions.shown, default: 0] &+= time.time
        }
        let sorted = sums.ordered { ($0.value, $1.key.callPath) > ($1.value, $0.key.callPath) }
        let shown = sorted.prefix(showsAll ? .max : SampleText.rows)
        guard !shown.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "time", alignment: .right), .init(title: "share", alignment: .right),
            .init(title: "hottest call paths outside the store", alignment: .left, losing: .middle),
            .init(title: "file", alignment: .left, losing: .beginning),
        ])
        for (path, time) in shown {
            table.add([
                Phrase.duration(time), Phrase.percent(Double(time) / Double(total)), path.callPath,
                String(path.first?.fileName ?? ""),
            ])
        }
        return [""] + table.section(ink, width: width) + SampleText.rest(sorted.count - shown.count, "path", ink)
    }
}

extension CodePart {
    /// The name in a report.
    package var title: String {
        switch self {
        case .program: "program"
        case .store: "store"
        case .sqlite: "SQLite"
        case .recorder: "recording"
        case .system: "system"
        }
    }
}
