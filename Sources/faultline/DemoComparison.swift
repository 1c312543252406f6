import FaultlineAnalysis
import FaultlineTrace
import Foundation

/// What the demo's two forms cost, side by side.
struct DemoComparison {
    let before: DemoRun
    let after: DemoRun

    /// A row: what is compared, and both figures.
    private struct Row {
        var name: String
        var before: Double
        var after: Double
        var format: (Double) -> String
    }

    func text() -> String {
        let title = "The same screens, before and after"
        let rows = rows.map { row in
            [row.name, row.format(row.before), row.format(row.after), Self.factor(row.before, row.after)]
        }
        let heading = ["", "with the flaws", "without", ""]
        let widths = heading.indices.map { column in ([heading] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([heading] + rows).map { cells in
            let padded = cells.enumerated().map { index, cell in
                let space = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + space : space + cell
            }
            return "  " + padded.joined(separator: "   ")
        }
        return "\n\(title)\n\(String(repeating: "=", count: title.count))\n\n" + lines.joined(separator: "\n") + "\n"
    }

    private var rows: [Row] {
        let (old, new) = (before.report.analysis.profile, after.report.analysis.profile)
        let longest = { (profile: Profile) in
            Double(profile.groups.filter { $0.key.kind != .sql }.map { $0.durations.maximum }.max() ?? 0)
        }
        return [
            Row(
                name: "time in the store", before: Double(old.totals.storeTime), after: Double(new.totals.storeTime),
                format: Self.milliseconds),
            Row(name: "longest operation", before: longest(old), after: longest(new), format: Self.milliseconds),
            Row(
                name: "round trips", before: Double(old.totals.readTrips), after: Double(new.totals.readTrips),
                format: Self.count),
            Row(
                name: "rows loaded", before: Double(old.totals.rowsLoaded), after: Double(new.totals.rowsLoaded),
                format: Self.count),
            Row(
                name: "bytes read", before: Double(old.totals.bytesRead), after: Double(new.totals.bytesRead),
                format: Self.megabytes),
            Row(
                name: "peak memory", before: Double(before.peakMemory), after: Double(after.peakMemory),
                format: Self.megabytes),
        ]
    }

    private static func milliseconds(_ nanoseconds: Double) -> String { fixed(nanoseconds / 1e6, 1) + " ms" }

    private static func megabytes(_ bytes: Double) -> String { fixed(bytes / 1_048_576, 1) + " MiB" }

    private static func count(_ number: Double) -> String { fixed(number, 0) }

    private static func fixed(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

    private static func factor(_ before: Double, _ after: Double) -> String {
        guard after > 0, before > 0 else { return "" }
        return before >= after ? fixed(before / after, 1) + " × less" : fixed(after / before, 1) + " × more"
    }
}
