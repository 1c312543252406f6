import Foundation

/// A Markdown table with a line for each budget.
struct BudgetTable: Codable {
    private var lines: [String] = []
    private var notes: [String] = []
    private(set) var missed = 0

    mutating func add(_ outcome: Comparison.Outcome) {
        for budget in outcome.comparison.budgets {
            let ratio = outcome.ratio(budget)
            let verdict: String
            if outcome.isVoid {
                verdict = "void: the machine was too busy"
            } else if ratio.median <= budget.limit {
                verdict = "met"
            } else if ratio.interval.lowerBound <= budget.limit {
                verdict = "open: the interval contains the limit"
            } else {
                verdict = "missed by \(Self.text(ratio.median - budget.limit)) ×"
                missed += 1
            }
            add(
                budget.number, "\(outcome.comparison.name): \(budget.arm)", budget.reference,
                limit: "\(Self.text(budget.limit)) ×",
                measured: "\(Self.text(ratio.median)) ×",
                interval: "\(Self.text(ratio.interval.lowerBound))–\(Self.text(ratio.interval.upperBound))", verdict)
        }
        let times = outcome.comparison.arms.map { "\($0.name) \(Self.text(outcome.nanoseconds($0.name))) ns" }
        notes.append(
            "- \(outcome.comparison.name), one operation: \(times.joined(separator: ", ")); A/A \(String(format: "%.3f", outcome.noise.median))"
        )
    }

    /// Adds a budget for a count.
    mutating func add(_ number: String, _ name: String, count: Int, atMost limit: Int, of unit: String) {
        if count > limit { missed += 1 }
        add(
            number, name, unit, limit: "\(limit)", measured: "\(count)", interval: "exact",
            count <= limit ? "met" : "missed by \(count - limit)")
    }

    /// Adds a budget for a ratio of counts, which does not vary.
    mutating func add(_ number: String, _ name: String, _ reference: String, ratio: Double, atMost limit: Double) {
        if ratio > limit { missed += 1 }
        let text = { (number: Double) in String(format: "%.4f", number) }
        add(
            number, name, reference, limit: "\(text(limit)) ×", measured: "\(text(ratio)) ×", interval: "exact",
            ratio <= limit ? "met" : "missed by \(text(ratio - limit)) ×")
    }

    /// Adds the lines of a table that another process measured.
    mutating func add(_ other: BudgetTable) {
        lines += other.lines
        notes += other.notes
        missed += other.missed
    }

    mutating func note(_ text: String) { notes.append("- \(text)") }

    private mutating func add(
        _ number: String, _ name: String, _ reference: String, limit: String, measured: String, interval: String,
        _ verdict: String
    ) {
        lines.append("| \(number) | \(name) | \(reference) | \(limit) | \(measured) | \(interval) | \(verdict) |")
    }

    var text: String {
        """
        | # | what | against | at most | measured | 95 % | |
        | --- | --- | --- | --- | --- | --- | --- |
        \(lines.joined(separator: "\n"))

        \(notes.joined(separator: "\n"))
        """
    }

    private static func text(_ number: Double) -> String {
        String(format: number < 0.1 ? "%.3f" : number < 10 ? "%.2f" : "%.0f", number)
    }
}
