/// Takes the values out of SQL that somebody else wrote.
///
/// What a program compares its columns with is private, and a log prints it wherever it was not bound:
/// `WHERE t0.ZNAME = 'Ada' AND t0.ZAGE > 42` is kept as `WHERE t0.ZNAME = ? AND t0.ZAGE > ?`.
enum SQLLiterals {
    /// A statement without its strings, numbers, blobs and comments.
    ///
    /// Numbers stay that tell how much is asked for and how: behind LIMIT and OFFSET, at the beginning of what is selected,
    /// and the options of Core Data's search in texts.
    static func removed(from sql: String) -> String {
        guard sql.utf8.contains(where: isSuspect) else { return sql }
        var scanner = Scanner(bytes: Array(sql.utf8))
        return scanner.scan()
    }

    /// Whether a byte can begin a literal or a comment.
    private static func isSuspect(_ byte: UInt8) -> Bool {
        isDigit(byte) || [UInt8(ascii: "'"), UInt8(ascii: "-"), UInt8(ascii: "/")].contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Letters, also those of other scripts, digits and what else a name or a number can go on with.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private struct Scanner {
        let bytes: [UInt8]
        var place = 0
        var text: [UInt8] = []
        /// The last word, in capitals, if nothing but white space stands behind it.
        var word = ""
        /// How deep the parentheses are, and where those of a search began.
        var depth = 0
        var search: Int?

        mutating func scan() -> String {
            while place < bytes.count {
                let byte = bytes[place]
                switch byte {
                case UInt8(ascii: "'"): replace(upTo: end(ofQuoted: byte))
                case UInt8(ascii: "\""), UInt8(ascii: "`"): keep(upTo: end(ofQuoted: byte))
                case UInt8(ascii: "["):
                    keep(upTo: (bytes[place...].firstIndex(of: UInt8(ascii: "]")) ?? bytes.count - 1) + 1)
                case UInt8(ascii: "-") where isNext("-"):
                    drop(upTo: bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
                case UInt8(ascii: "/") where isNext("*"): drop(upTo: endOfComment)
                case _ where SQLLiterals.isDigit(byte): scanNumber()
                case UInt8(ascii: ".") where nextIsDigit && !followsWord: scanNumber()
                case _ where SQLLiterals.isOfWord(byte): scanWord()
                default: scanMark(byte)
                }
            }
            return String(decoding: text, as: UTF8.self)
        }

        private func isNext(_ mark: Unicode.Scalar) -> Bool {
            place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: mark)
        }

        private var nextIsDigit: Bool { place + 1 < bytes.count && SQLLiterals.isDigit(bytes[place + 1]) }

        private var followsWord: Bool { text.last.map(SQLLiterals.isOfWord) ?? false }

        /// Where a quoted text ends; a doubled quote is one of its characters.
        private func end(ofQuoted quote: UInt8) -> Int {
            var end = place + 1
            while end < bytes.count {
                if bytes[end] == quote {
                    guard end + 1 < bytes.count, bytes[end + 1] == quote else { return end + 1 }
                    end += 1
                }
                end += 1
            }
            return bytes.count
        }

        private var endOfComment: Int {
            var end = place + 2
            while end + 1 < bytes.count, bytes[end] != UInt8(ascii: "*") || bytes[end + 1] != UInt8(ascii: "/") {
                end += 1
            }
            return min(bytes.count, end + 2)
        }

        private mutating func keep(upTo end: Int) {
            text += bytes[place..<end]
            (place, word) = (end, "")
        }

        private mutating func replace(upTo end: Int) {
            text.append(UInt8(ascii: "?"))
            (place, word) = (end, "")
        }

        private mutating func drop(upTo end: Int) {
            text.append(UInt8(ascii: " "))
            place = end
        }

        private mutating func scanNumber() {
            var end = place
            while end < bytes.count {
                let byte = bytes[end]
                let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                let isHexadecimal = place + 1 < bytes.count && bytes[place + 1] | 0x20 == UInt8(ascii: "x")
                let isExponent = end > place && bytes[end - 1] | 0x20 == UInt8(ascii: "e") && !isHexadecimal
                guard SQLLiterals.isOfWord(byte) || byte == UInt8(ascii: ".") || isSign && isExponent else { break }
                end += 1
            }
            if ["LIMIT", "OFFSET", "SELECT"].contains(word) || search != nil {
                keep(upTo: end)
            } else {
                replace(upTo: end)
            }
        }

        private mutating func scanWord() {
            var end = place
            while end < bytes.count, SQLLiterals.isOfWord(bytes[end]) { end += 1 }
            let found = String(decoding: bytes[place..<end], as: UTF8.self).uppercased()
            // A blob: X'00ff'.
            if found == "X", end < bytes.count, bytes[end] == UInt8(ascii: "'") {
                place = end
                return replace(upTo: self.end(ofQuoted: UInt8(ascii: "'")))
            }
            keep(upTo: end)
            word = found
        }

        private mutating func scanMark(_ byte: UInt8) {
            if byte == UInt8(ascii: "(") {
                depth += 1
                if word == "NSCOREDATASTRINGSEARCH", search == nil { search = depth }
            }
            if byte == UInt8(ascii: ")") {
                if search == depth { search = nil }
                depth -= 1
            }
            // "LIMIT 10, 20" and "LIMIT 10 OFFSET 20".
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            text.append(byte)
            place += 1
            if !isSpace { word = "" }
        }
    }
}
