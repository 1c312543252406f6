// Names, statements and paths come from the recorded program, from files and from whoever named them. A terminal would obey
// what they hold: move its cursor, set the window's title, or show a line in another order than it was written in.

extension Phrase {
    /// A text that stays on its line and gives a terminal no orders.
    ///
    /// Control characters become their pictures (`␛`, `␊`). Everything else that ends a line or changes the direction of
    /// writing becomes `�`. Each is replaced by one character, so that columns keep their widths.
    package static func printable(_ text: String) -> String { printable(text, keeping: []) }

    /// The same, with some characters left as they are: line feeds, in a text whose lines are laid out already.
    package static func printable(_ text: String, keeping kept: Set<Unicode.Scalar>) -> String {
        guard canHoldUnprintable(text) else { return text }
        let isReplaced = { (scalar: Unicode.Scalar) in isUnprintable(scalar) && !kept.contains(scalar) }
        guard text.unicodeScalars.contains(where: isReplaced) else { return text }
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { printable.append(isReplaced(scalar) ? picture(of: scalar) : scalar) }
        return String(printable)
    }

    /// JSON with everything unprintable in its strings written as `\\u001b`, which is the same to whoever parses it.
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

    /// An unprintable character as JSON writes it: `\\u001b`.
    package static func escape(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Whether a character is a control character, ends a line or paragraph, or changes the direction of writing.
    ///
    /// All of them have at most four hexadecimal digits.
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

    /// A quick look at the bytes; most texts have none that begins such a character.
    private static func canHoldUnprintable(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }
    }
}
