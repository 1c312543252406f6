internal import FaultlineFindings

/// The line that shows how far a long operation is.
///
///     reading trace.json [██████▌             ] 32 %, 118 MiB/s, 12 s left
package struct ProgressText: Sendable {
    /// The unit that an operation counts.
    package enum Unit: Sendable, Equatable {
        case bytes
        /// Things with a name, such as `"file"`.
        case things(String)
    }

    /// The number of characters of the bar.
    private static let bar = 20

    /// The operation, such as `"reading trace.json"`.
    let title: String
    let unit: Unit

    package init(_ title: String, _ unit: Unit) {
        (self.title, self.unit) = (title, unit)
    }

    /// Returns the line.
    ///
    /// - Parameters:
    ///   - done: The amount that is done, in units.
    ///   - total: The whole amount.
    ///   - seconds: The time that it took.
    ///   - width: The maximum number of characters. The title is cut if necessary.
    package func line(_ done: UInt64, of total: UInt64, after seconds: Double, width: Int) -> String {
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        var facts = [Phrase.percent(share)]
        if seconds > 0, done > 0 {
            facts.append(rate(Double(done) / seconds))
            facts.append("\(Self.time(seconds / share * (1 - share))) left")
        }
        let rest = " [\(Self.bar(share))] " + facts.joined(separator: ", ")
        return String((TextTable.shortened(title, to: max(8, width - rest.count)) + rest).prefix(max(0, width)))
    }

    private func rate(_ perSecond: Double) -> String {
        switch unit {
        case .bytes: "\(Phrase.size(perSecond))/s"
        case .things(let name): "\(Phrase.decimal(perSecond, places: perSecond < 10 ? 1 : 0)) \(name)s/s"
        }
    }

    /// A bar of eighths of characters.
    private static func bar(_ share: Double) -> String {
        let eighths = Int(share * Double(bar * 8))
        let parts = Array(" ▏▎▍▌▋▊▉")
        let text = String(repeating: "█", count: eighths / 8) + (eighths % 8 == 0 ? "" : String(parts[eighths % 8]))
        return text + String(repeating: " ", count: bar - text.count)
    }

    /// A time in whole seconds or minutes.
    private static func time(_ seconds: Double) -> String {
        let whole = UInt64(min(1e9, seconds.rounded(.up)))
        return whole < 60 ? "\(whole) s" : "\(Phrase.count(whole / 60)) min \(whole % 60) s"
    }
}
