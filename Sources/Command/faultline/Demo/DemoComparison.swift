import FaultlineFindings
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace

/// The costs of the demo's two forms, side by side.
struct DemoComparison {
    let before: DemoRun
    let after: DemoRun

    func text() -> String {
        let title = "The same screens, before and after"
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "with the flaws", alignment: .right),
            .init(title: "without", alignment: .right), .init(title: "", alignment: .right),
        ])
        for row in rows where row.before > 0 || row.after > 0 {
            table.add([row.name, row.words(row.before), row.words(row.after), Self.factor(row.before, row.after)])
        }
        var lines = table.lines(width: 80).map { "  " + $0 }
        if count(.batch, in: after) > count(.batch, in: before) {
            lines += ["", "  Smaller batches take more round trips, but each one loads only what a screen shows."]
        }
        return Demo.titled(title, lines.joined(separator: "\n"))
    }

    /// A measure with both figures.
    private struct Row {
        var name: String
        var before: UInt64
        var after: UInt64
        var words: (UInt64) -> String
    }

    private var rows: [Row] {
        let (old, new) = (before.report.analysis.profile, after.report.analysis.profile)
        let time = { (nanoseconds: UInt64) in Phrase.duration(nanoseconds) }
        let count = { (number: UInt64) in Phrase.count(number) }
        let size = { (bytes: UInt64) in Phrase.size(Double(bytes)) }
        return [
            Row(name: "time in the store", before: old.totals.storeTime, after: new.totals.storeTime, words: time),
            Row(name: "longest operation", before: old.longestOperation, after: new.longestOperation, words: time),
            Row(name: "round trips", before: old.totals.readTrips, after: new.totals.readTrips, words: count),
            Row(name: "rows loaded", before: old.totals.rowsLoaded, after: new.totals.rowsLoaded, words: count),
            Row(name: "bytes read", before: old.totals.bytesRead, after: new.totals.bytesRead, words: size),
            Row(name: "peak memory of the app", before: before.peakMemory, after: after.peakMemory, words: size),
        ]
    }

    private func count(_ kind: EventKind, in run: DemoRun) -> UInt64 {
        run.report.analysis.profile.totals.events[kind] ?? 0
    }

    private static func factor(_ before: UInt64, _ after: UInt64) -> String {
        guard after > 0, before > 0, before != after else { return "" }
        let (more, less) = (Double(max(before, after)), Double(min(before, after)))
        if more / less < 1.05 { return "" }
        return (before > after ? "÷ " : "× ") + Phrase.decimal(more / less, places: 1)
    }
}
