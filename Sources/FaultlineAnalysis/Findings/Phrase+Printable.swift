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
