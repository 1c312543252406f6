internal import FaultlineProfile

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
    package static func shortened(_ text: String, to width: Int) -> String {
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

    /// A text wrapped at spaces, but not between a number, or a rule's number, and the word it belongs to.
    package static func wrapped(_ text: String, width: Int) -> [String] {
        let text = printable(text)
        var pieces: [String] = []
        var isOpen = false
        for word in text.split(separator: " ") {
            if isOpen, let last = pieces.last {
                pieces[pieces.count - 1] = last + " " + word
            } else {
                pieces.append(String(word))
            }
            // The second number of a range is also followed by its unit: `0 ns–320 µs`.
            let isRange = word.contains("–") && word.last?.isNumber == true
            isOpen = word.last == ":" || isRange || word.allSatisfy { $0.isNumber || ",.(–-R".contains($0) }
        }
        var lines: [String] = []
        for piece in pieces {
            if let line = lines.last, line.count + 1 + piece.count <= width {
                lines[lines.count - 1] = line + " " + piece
            } else {
                lines.append(piece)
            }
        }
        return lines
    }
}

extension [String] {
    /// The distinct texts, in the order of their first occurrence.
    package var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

// Names, statements and paths come from the recorded program, from files and from users. A terminal interprets control
// characters in them: it could move the cursor, set the window's title, or reorder a line.

extension Phrase {
    /// Replaces the characters that could end a line or control a terminal.
    ///
    /// Control characters become their pictures (`␛`, `␊`). Other characters that end a line or change the writing
    /// direction become `�`. Each is replaced by one character, which keeps the widths of columns.
    package static func printable(_ text: String) -> String { printable(text, keeping: []) }

    /// Replaces unprintable characters except those to keep, such as the line feeds of a text that is already laid out.
    package static func printable(_ text: String, keeping kept: Set<Unicode.Scalar>) -> String {
        guard canHoldUnprintable(text) else { return text }
        let isReplaced = { (scalar: Unicode.Scalar) in isUnprintable(scalar) && !kept.contains(scalar) }
        guard text.unicodeScalars.contains(where: isReplaced) else { return text }
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { printable.append(isReplaced(scalar) ? picture(of: scalar) : scalar) }
        return String(printable)
    }

    /// Escapes unprintable characters in the strings of JSON as `\\u001b`.
    ///
    /// Parsers read the same values.
    package static func escaped(json: String) -> String {
        guard canHoldUnprintable(json) else { return json }
        var printable = ""
        for scalar in json.unicodeScalars {
            // JSON has these between its tokens, and never in its strings.
            if isUnprintable(scalar), !"\n\r\t".unicodeScalars.contains(scalar) {
                printable += escape(of: scalar)
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }

    /// The JSON escape sequence of a character: `\\u001b`.
    package static func escape(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Whether a character is a control character, ends a line or paragraph, or changes the writing direction.
    ///
    /// All of these have at most four hexadecimal digits.
    package static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F: true
        default: false
        }
    }

    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        let code = scalar.value < 0x20 ? 0x2400 + scalar.value : scalar.value == 0x7F ? 0x2421 : 0xFFFD
        return Unicode.Scalar(code) ?? "\u{FFFD}"
    }

    /// A quick check of the bytes.
    ///
    /// Most texts have none that can begin an unprintable character.
    private static func canHoldUnprintable(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }
    }
}

/// A number in a sentence, with its unit and its plain-text form.
package struct Quantity: Sendable, Hashable {
    /// A number, exact if it is whole.
    package enum Amount: Sendable, Hashable {
        case whole(UInt64)
        case real(Double)
    }

    /// The plain-text form of a number.
    enum Style: Sendable, Hashable {
        /// The default for the unit: whole numbers with thousands separators, times and sizes with three digits.
        case usual
        /// A whole number without separators, as in code: `1500`.
        case plain
        /// A number with a fixed number of decimals.
        case decimal(places: Int)
        /// The form used in a thresholds file: `16 ms`, `30 %`.
        case setting(Threshold.Unit)
        /// The range alone, without the median.
        case span
    }

    /// The number, in the unit's base unit (nanoseconds or bytes).
    ///
    /// For a range, the median.
    package let amount: Amount
    /// The unit.
    package let unit: Evidence.Unit
    /// The range of the value, or `nil` if it is certain.
    package let range: ClosedRange<Double>?
    /// The noun after the number, such as `"fetch"` or `"fetches"`, or `nil` if there is none.
    package let noun: String?
    private let style: Style

    init(
        _ amount: Amount, _ unit: Evidence.Unit, noun: String? = nil, range: Saving.Range? = nil, style: Style = .usual
    ) {
        self.amount = amount
        self.unit = unit
        self.noun = noun
        self.range = range.map { min($0.low, $0.high)...max($0.low, $0.high) }
        self.style = style
    }

    /// Creates a whole number with its noun in the singular or plural.
    init(_ number: some BinaryInteger, _ unit: Evidence.Unit, _ noun: String? = nil, plural: String? = nil) {
        let amount = UInt64(exactly: number).map(Amount.whole) ?? .real(Double(number))
        self.init(amount, unit, noun: noun.map { number == 1 ? $0 : plural ?? $0 + "s" })
    }

    /// The number: nanoseconds, bytes, a share in 0…1, or a count.
    package var value: Double {
        switch amount {
        case .whole(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The plain text: `1,204 fetches`, `12.3 ms (11.8–12.9 ms)`, `41 %`.
    package var text: String { noun.map { "\(number) \($0)" } ?? number }

    private var number: String {
        switch (style, unit) {
        case (.setting(let unit), _): return unit.text(value)
        case (.decimal(let places), _): return Phrase.decimal(value, places: places)
        case (.span, _): return Phrase.span(bounds)
        case (_, .nanoseconds): return range == nil ? Phrase.duration(value) : Phrase.duration(bounds)
        case (_, .bytes): return Phrase.size(value)
        case (_, .share): return Phrase.percent(value)
        case (_, .count), (_, .rows), (_, .trips):
            guard case .whole(let number) = amount else { return Phrase.decimal(value, places: 0) }
            return style == .plain ? String(number) : Phrase.count(number)
        }
    }

    private var bounds: Saving.Range {
        Saving.Range(median: value, low: range?.lowerBound ?? value, high: range?.upperBound ?? value)
    }
}
