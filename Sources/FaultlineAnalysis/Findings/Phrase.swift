/// Formats numbers for sentences.
package enum Phrase {
    /// A number with thousands separators: `1,204`.
    package static func count(_ value: UInt64) -> String {
        let digits = Array(String(value))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    package static func count(_ value: Int) -> String { value < 0 ? "-" + count(UInt64(-value)) : count(UInt64(value)) }

    /// A number with its noun: `1 row`, `20 rows`.
    package static func count(_ value: UInt64, _ noun: String, plural: String? = nil) -> String {
        count(value) + " " + (value == 1 ? noun : plural ?? noun + "s")
    }

    /// A share as a percentage with one decimal below 10 %, and none otherwise: `0.4 %`, `12 %`.
    package static func percent(_ share: Double) -> String {
        let percent = share * 100
        if percent > 0, percent < 0.1 { return "under 0.1 %" }
        return percent < 10 ? "\(decimal(percent, places: 1)) %" : "\(decimal(percent, places: 0)) %"
    }

    /// A time in a suitable unit, with three digits: `812 ns`, `4.10 µs`, `12.3 ms`, `2.00 s`.
    package static func duration(_ nanoseconds: Double) -> String {
        let size = abs(nanoseconds)
        if size < 999.5 { return "\(decimal(nanoseconds, places: 0)) ns" }
        if size < 999_500 { return "\(threeDigits(nanoseconds / 1e3)) µs" }
        if size < 999_500_000 { return "\(threeDigits(nanoseconds / 1e6)) ms" }
        return "\(threeDigits(nanoseconds / 1e9)) s"
    }

    package static func duration(_ nanoseconds: UInt64) -> String { duration(Double(nanoseconds)) }

    /// A time, with its range if it is uncertain: `12.3 ms (11.8–12.9 ms)`.
    package static func duration(_ range: Saving.Range) -> String {
        let (low, high) = (duration(range.low), duration(range.high))
        guard low != high else { return duration(range.median) }
        return "\(duration(range.median)) (\(between(low, high)))"
    }

    /// The range of a time: `11.8–12.9 ms`.
    package static func span(_ range: Saving.Range) -> String {
        let (low, high) = (duration(range.low), duration(range.high))
        return low == high ? low : between(low, high)
    }

    /// Joins two times, with the unit once if both have the same.
    private static func between(_ low: String, _ high: String) -> String {
        let (first, second) = (low.split(separator: " "), high.split(separator: " "))
        // A dash next to a negative number would look like a minus sign.
        let dash = low.hasPrefix("-") || high.hasPrefix("-") ? " to " : "–"
        return first.last == second.last ? "\(first[0])\(dash)\(high)" : "\(low)\(dash)\(high)"
    }

    /// A size in a suitable unit: `512 B`, `18.5 KiB`, `3.00 MiB`.
    package static func size(_ bytes: Double) -> String {
        let size = abs(bytes)
        if size < 1023.5 { return "\(decimal(bytes, places: 0)) B" }
        if size < 1023.5 * 1024 { return "\(threeDigits(bytes / 1024)) KiB" }
        if size < 1023.5 * 1_048_576 { return "\(threeDigits(bytes / 1_048_576)) MiB" }
        return "\(threeDigits(bytes / 1_073_741_824)) GiB"
    }

    /// A number with a fixed number of decimals, rounded half away from zero.
    package static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "?" }
        let scale = [1.0, 10, 100, 1000][min(3, places)]
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 9e15 else { return "?" }
        let number = UInt64(scaled)
        let sign = value < 0 && number > 0 ? "-" : ""
        guard places > 0 else { return sign + count(number) }
        let fraction = String(number % UInt64(scale))
        return sign + count(number / UInt64(scale)) + "." + String(repeating: "0", count: places - fraction.count)
            + fraction
    }

    /// A path without its directories.
    package static func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The beginning of a text that is longer than a number of characters, with an ellipsis.
    static func shortened(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(width - 1) + "…"
    }

    /// A query plan of SQLite in one line.
    package static func plan(_ lines: String) -> String {
        lines.split(separator: "\n").joined(separator: "; ")
    }

    private static func threeDigits(_ value: Double) -> String {
        let size = abs(value)
        return decimal(value, places: size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
    }
}

extension [String] {
    /// The distinct texts, in the order of their first occurrence.
    package var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
