internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The section of a report that shows where memory was allocated, if allocations were sampled.
struct MemoryText {
    let profile: Profile
    /// Whether to show every scope and call path.
    let showsAll: Bool

    /// The memory in one line, or `nil` if allocations were not sampled: `memory: 13.4 MiB at the peak`.
    var summary: String? {
        let peak = profile.allocations.reduce(0) { $0 &+ $1.sum.atPeak }
        return peak > 0 ? "memory: \(size(peak)) at the peak" : nil
    }

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        let sums = profile.allocations
        let allocated = sums.reduce(0) { $0 &+ $1.sum.bytes }
        guard allocated > 0 else { return [] }
        let samples = sums.reduce(0) { $0 &+ $1.sum.samples }
        let peak = sums.reduce(0) { $0 &+ $1.sum.atPeak }
        let processes = profile.allProcesses.processes
        let peaks = processes > 1 ? "at the peaks of \(Phrase.count(processes)) processes together" : "at the peak"
        var facts = [
            "\(size(peak)) \(peaks)", "\(size(allocated)) allocated, by \(Phrase.count(samples, "sample"))",
        ]
        if let most = profile.programMemory.map(\.memory).max(by: { $0.resident < $1.resident }) {
            let proportional = most.proportional > 0 ? " (PSS \(size(most.proportional)))" : ""
            facts.append("the largest process had \(size(most.resident)) in RAM\(proportional)")
        }
        let words = facts.joined(separator: "; ")
        let title = ink(.bold, "Memory") + "  (\(words))"
        let head =
            words.count + 10 <= width
            ? [title] : [ink(.bold, "Memory")] + Phrase.wrapped(words, width: width - 2).map { "  " + $0 }
        return head + paths(peak, ink, width) + scopes(ink, width)
    }

    private func size(_ bytes: UInt64) -> String { Phrase.size(Double(bytes)) }

    /// The call paths that had allocated the memory at the peak.
    private func paths(_ peak: UInt64, _ ink: Ink, _ width: Int) -> [String] {
        var sums: [[CallSite]: (peak: UInt64, bytes: UInt64)] = [:]
        for (path, sum) in profile.allocations {
            let key = path.functions.shown
            sums[key, default: (0, 0)].peak &+= sum.atPeak
            sums[key]?.bytes &+= sum.bytes
        }
        let sorted = sums.ordered {
            ($0.value.peak, $0.value.bytes, $1.key.callPath) > ($1.value.peak, $1.value.bytes, $0.key.callPath)
        }
        let shown = sorted.prefix(showsAll ? .max : SampleText.rows)
        var table = TextTable([
            .init(title: "at peak", alignment: .right), .init(title: "share", alignment: .right),
            .init(title: "allocated", alignment: .right),
            .init(title: "call path", alignment: .left, losing: .middle),
            .init(title: "file", alignment: .left, losing: .beginning),
        ])
        for (path, sum) in shown {
            table.add([
                size(sum.peak), Phrase.percent(Double(sum.peak) / Double(max(1, peak))), size(sum.bytes),
                path.isEmpty ? "unknown" : path.callPath, String(path.first?.fileName ?? ""),
            ])
        }
        return table.section(ink, width: width) + SampleText.rest(sorted.count - shown.count, "path", ink)
    }

    /// The memory that scopes allocated and did not free, with the call path that kept the most of it.
    private func scopes(_ ink: Ink, _ width: Int) -> [String] {
        var sums: [ScopeSummary.Key: (bytes: UInt64, kept: UInt64, most: (path: [CallSite], kept: UInt64))] = [:]
        for (path, sum) in profile.allocations {
            guard let scope = path.scope else { continue }
            var total = sums[scope] ?? (0, 0, ([], 0))
            total.bytes &+= sum.bytes
            total.kept &+= sum.kept
            if sum.kept > total.most.kept { total.most = (path.functions, sum.kept) }
            sums[scope] = total
        }
        guard !sums.isEmpty else { return [] }
        let sorted = sums.ordered {
            ($0.value.kept, $0.value.bytes, $1.key.name) > ($1.value.kept, $1.value.bytes, $0.key.name)
        }
        var table = TextTable([
            .init(title: "scope", alignment: .left, losing: .middle), .init(title: "allocated", alignment: .right),
            .init(title: "kept at its end", alignment: .right),
            .init(title: "most of it kept by", alignment: .left, losing: .middle),
        ])
        for (scope, sum) in sorted.prefix(showsAll ? .max : SampleText.rows) {
            table.add([
                SampleText.name(scope), size(sum.bytes), size(sum.kept), sum.most.path.shown.callPath,
            ])
        }
        return [""] + table.section(ink, width: width)
    }
}
