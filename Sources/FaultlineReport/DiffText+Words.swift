internal import FaultlineAnalysis

// The wording of figures in a comparison, for all formats.

extension DiffText {
    func words(_ name: String, _ value: UInt64, _ traces: UInt64) -> String {
        let mean = Double(value) / Double(traces)
        switch name {
        case "longestOperation": return Phrase.duration(value)
        case "time": return Phrase.duration(mean)
        case "bytes", "bytesWritten": return Phrase.size(mean)
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
