import Foundation
import TruthKit

/// One measurement of one prediction.
struct Measurement {
    var setting: Setting
    var rule: String
    var title: String
    var outcome: String
    /// Nanoseconds.
    var expected: Range
    var gain: Range
    var before: Double
    var after: Double

    struct Range: Decodable {
        var median, low, high: Double
    }

    /// Whether what was measured is what was predicted: within its range, or no more than a twentieth of the time where nothing
    /// measurable was predicted.
    var isContained: Bool {
        guard expected.median > 0 else { return gain.median <= max(expected.high, before / 20) }
        return expected.low <= gain.median && gain.median <= expected.high
    }
    /// How wide the prediction is, beside its median; `nil`: nothing was predicted.
    var width: Double? { expected.median > 0 ? (expected.high - expected.low) / expected.median : nil }
}

/// Records workloads with the built command, and has it verify its advice.
struct Driver {
    /// How often each trace is verified.
    let repeats: Int
    private(set) var measurements: [Measurement] = []

    init(repeats: Int) { self.repeats = repeats }

    /// Records one workload and measures each of its findings.
    mutating func measure(_ setting: Setting) throws {
        let folder = try ScratchFolder()
        let (store, trace) = (folder.path("store.sqlite"), folder.path("trace.json"))
        let size = ["\(setting.rows)", "\(setting.share)"]
        try Command.run(Command.own, ["fill", store] + size)
        let load = setting.isBusy ? try Load() : nil
        defer { load?.stop() }
        let command = Command.path("faultline")
        try Command.run(
            command,
            ["record", "-o", trace, "--quiet", "--", Command.own, "work", setting.workload, store] + size
                + [setting.isWarm ? "warm" : "cold"])
        for repeated in 0..<repeats {
            let output = try Command.run(command, ["verify", trace, "--store", store, "--format", "json"])
            let trials = try JSONDecoder().decode(Verification.self, from: output).trials
            let found = trials.compactMap { $0.measurement(setting) }
            measurements += found
            for measured in found { print("\(repeated + 1)", measured.line) }
            fflush(nil)
        }
    }
}

/// The document of `verify`.
private struct Verification: Decodable {
    struct Finding: Decodable {
        var rule, title: String
    }
    struct Trial: Decodable {
        var finding: Finding
        var outcome: String
        var expected: Measurement.Range?
        var figure: Figure?

        func measurement(_ setting: Setting) -> Measurement? {
            guard let expected, let figure else { return nil }
            return Measurement(
                setting: setting, rule: finding.rule, title: finding.title, outcome: outcome, expected: expected,
                gain: figure.gain, before: figure.before.median, after: figure.after.median)
        }
    }
    struct Figure: Decodable {
        var before, after, gain: Measurement.Range
    }
    var trials: [Trial]
}

extension Measurement {
    /// `R06 index 8000 × 0.02 warm idle: predicted 4.1 ms (3.0–5.2), measured 4.4 ms of 5.0 ms, confirmed`.
    var line: String {
        let text = { (time: Double) in String(format: "%.3f", time / 1e6) }
        return "\(isContained ? "✓" : "✗") \(rule) \(setting): predicted \(text(expected.median)) ms "
            + "(\(text(expected.low))–\(text(expected.high))), measured \(text(gain.median)) "
            + "(\(text(gain.low))–\(text(gain.high))) of \(text(before)) ms, \(outcome): \(title)"
    }
}
