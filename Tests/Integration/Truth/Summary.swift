import Foundation

/// The summary of many measurements, and the goals.
struct Summary {
    private let measurements: [Measurement]

    init(_ measurements: [Measurement]) { self.measurements = measurements }

    /// Goals: measurements at least, the share of them within the predicted range, its median width beside its median, and
    /// the share of repetitions with the same outcome.
    private static let goals = (measurements: 200, contained: 0.9, width: 1.0, same: 0.95)

    private static func contained(_ measurements: [Measurement]) -> Double {
        Double(measurements.count(where: \.isContained)) / Double(max(1, measurements.count))
    }

    private static func width(_ measurements: [Measurement]) -> Double {
        let widths = measurements.compactMap(\.width).sorted()
        return widths.isEmpty ? 0 : widths[widths.count / 2]
    }

    /// The share of repetitions whose outcome is the most frequent one of their finding.
    private static func same(_ measurements: [Measurement]) -> Double {
        struct Key: Hashable {
            var setting: Setting
            var title: String
        }
        let findings = Dictionary(grouping: measurements) { Key(setting: $0.setting, title: $0.title) }
        let agreeing = findings.values.reduce(0) { sum, repetitions in
            sum + (Dictionary(grouping: repetitions, by: \.outcome).values.map(\.count).max() ?? 0)
        }
        return Double(agreeing) / Double(max(1, measurements.count))
    }

    var meetsGoals: Bool {
        measurements.count >= Self.goals.measurements && Self.contained(measurements) >= Self.goals.contained
            && Self.width(measurements) <= Self.goals.width && Self.same(measurements) >= Self.goals.same
    }

    /// A table of all rules.
    var text: String {
        var lines = [
            "", "| rule | measurements | within the prediction | width | same outcome |",
            "| --- | --- | --- | --- | --- |",
        ]
        let rules = Dictionary(grouping: measurements, by: \.rule).sorted { $0.key < $1.key }
        lines += rules.map { Self.row($0.key, $0.value) }
        lines.append(Self.row("all", measurements))
        lines.append(
            "goals: at least \(Self.goals.measurements) measurements, \(Self.percent(Self.goals.contained)) within the "
                + "prediction, a median width of \(Self.goals.width) × its median at most, \(Self.percent(Self.goals.same)) "
                + "of the repetitions with the same outcome: \(meetsGoals ? "met" : "missed")")
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ measurements: [Measurement]) -> String {
        "| \(name) | \(measurements.count) | \(percent(contained(measurements))) | "
            + "\(String(format: "%.2f", width(measurements))) × | \(percent(same(measurements))) |"
    }

    private static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }
}
