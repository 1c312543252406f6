import ApplicationFlaws
import Foundation
import TruthKit

/// The measured saving of a repaired flaw, beside the one that the report of the flawed form predicts.
struct Comparison {
    var flaw: Flaw
    /// The compared figure: the first that is predicted, or `nil` if the flaw was not found in every run.
    var figure: Figure?
    var predicted: Measurement.Range
    /// Medians over the pairs.
    var flawed: Double
    var repaired: Double
    /// Warnings and errors that the repaired form gets.
    var warnings: Int

    enum Figure: String {
        case time = "store time"
        case trips = "round trips"
        case rows = "rows loaded"
        case memory = "bytes read"
    }

    private struct Report: Decodable {
        struct Saving: Decodable {
            var time: Measurement.Range
            var trips, rows, bytes, memory: Double
        }
        struct Finding: Decodable {
            var rule, title, severity: String
            var saving: Saving
        }
        struct Scope: Decodable {
            var name: String
            var storeTime: Double
        }
        struct Totals: Decodable { var storeTime, readTrips, rowsLoaded, bytesRead: Double }
        var findings: [Finding]
        var scopes: [Scope]
        var totals: Totals

        func value(_ figure: Figure, of scenario: String) -> Double {
            switch figure {
            // Of the scenario alone, without opening the store; what other threads do has no part in its scope.
            case .time: scopes.first { $0.name == scenario && $0.storeTime > 0 }?.storeTime ?? totals.storeTime
            case .trips: totals.readTrips
            case .rows: totals.rowsLoaded
            case .memory: totals.bytesRead
            }
        }
    }

    /// Compares the forms alternately.
    init(_ flaw: Flaw, pairs: Int) throws {
        let folder = try ScratchFolder()
        let program = Command.path(flaw.application)
        for form in ["flawed", "repaired"] {
            let place = folder.url.appendingPathComponent(form)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Command.run(program, [place.appendingPathComponent("store.sqlite").path, form, "prepare"])
        }
        let thresholds = folder.path("thresholds.json")
        try Data((flaw.thresholds ?? "{}").utf8).write(to: URL(fileURLWithPath: thresholds))
        func report(_ form: String) throws -> Report {
            // Each run has the store as it was prepared, with its log and the files of its large values.
            let run = folder.url.appendingPathComponent("run")
            try? FileManager.default.removeItem(at: run)
            try FileManager.default.copyItem(at: folder.url.appendingPathComponent(form), to: run)
            let (store, trace) = (run.appendingPathComponent("store.sqlite").path, folder.path("trace.json"))
            let command = Command.path("faultline")
            try Command.run(
                command, ["record", "-o", trace, "--quiet", "--", program, store, form, flaw.scenario])
            return try JSONDecoder().decode(
                Report.self,
                from: try Command.run(command, ["report", trace, "--format", "json", "--thresholds", thresholds]))
        }
        var (before, after): ([Report], [Report]) = ([], [])
        for _ in 0..<max(1, pairs) {
            before.append(try report("flawed"))
            after.append(try report("repaired"))
        }
        // The repaired form has none of the flaws: what the findings predict adds up.
        let findings = before.compactMap { report in
            report.findings.contains { flaw.isShown(by: $0.rule, $0.title) }
                ? report.findings.filter { $0.severity != "note" || $0.rule == flaw.rule } : nil
        }
        let sum = { (path: KeyPath<Report.Saving, Double>) in
            Self.median(findings.map { $0.reduce(0) { $0 + $1.saving[keyPath: path] } })
        }
        let time = Measurement.Range(median: sum(\.time.median), low: sum(\.time.low), high: sum(\.time.high))
        let counts: [(Figure, Double)] = [(.trips, sum(\.trips)), (.rows, sum(\.rows)), (.memory, sum(\.bytes))]
        let isFound = findings.count == before.count
        if !isFound || time.median > 0 {
            (figure, predicted) = (isFound ? .time : nil, time)
        } else {
            let count = counts.first { $0.1 > 0 } ?? (.time, 0)
            (figure, predicted) = (count.0, .init(median: count.1, low: count.1, high: count.1))
        }
        self.flaw = flaw
        let compared = figure ?? .time
        flawed = Self.median(before.map { $0.value(compared, of: flaw.scenario) })
        repaired = Self.median(after.map { $0.value(compared, of: flaw.scenario) })
        warnings = after.map { $0.findings.count { $0.severity != "note" } }.max() ?? 0
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    var saved: Double { flawed - repaired }

    /// Whether it helps about as much as predicted: within the range and the noise of whole runs, 15 % of the flawed form.
    var isAsPredicted: Bool {
        let noise = figure == .time ? 0.15 * flawed : 0
        return figure != nil && saved > 0 && saved >= predicted.low - noise && saved <= predicted.high + noise
    }

    private func text(_ value: Double) -> String {
        figure == .time ? String(format: "%.2f ms", value / 1e6) : String(format: "%.0f", value)
    }

    private var row: String {
        guard let figure else {
            return "| \(flaw.application) | \(flaw.scenario) | \(flaw.rule) | not found | | | | "
                + "\(warnings == 0 ? "yes" : "no") |"
        }
        let range = figure == .time ? " (\(text(predicted.low))–\(text(predicted.high)))" : ""
        return "| \(flaw.application) | \(flaw.scenario) | \(flaw.rule) | \(figure.rawValue) | "
            + "\(text(predicted.median))\(range) | \(text(flawed)) → \(text(repaired)) | \(isAsPredicted ? "yes" : "no") | "
            + "\(warnings == 0 ? "yes" : "no") |"
    }

    /// Compares all applications, and prints a table of flaws and one of rules.
    static func printAll(pairs: Int) throws {
        print(
            "| application | scenario | rule | figure | predicted saving | measured | as predicted | repaired is silent |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        var results: [Comparison] = []
        for flaw in Flaw.all {
            let comparison = try Comparison(flaw, pairs: pairs)
            print(comparison.row)
            fflush(nil)
            results.append(comparison)
        }
        print("\n| rule | flaws | found | as predicted | repaired is silent |\n| --- | --- | --- | --- | --- |")
        for (rule, group) in Dictionary(grouping: results, by: \.flaw.rule).sorted(by: { $0.key < $1.key }) + [
            ("all", results)
        ] {
            print(
                "| \(rule) | \(group.count) | \(group.count { $0.figure != nil }) | \(group.count(where: \.isAsPredicted)) | "
                    + "\(group.count { $0.warnings == 0 }) |")
        }
    }
}
