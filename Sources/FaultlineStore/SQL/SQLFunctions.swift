import CSQLite
import Foundation

/// The functions that statements call for text comparisons that SQLite does not have.
///
/// `NSCoreDataStringSearch(text, pattern, options, 0)` is Core Data's: it finds the pattern in the text. Options are
/// Foundation's bits: 1 without regard to case, 4 from the end, 8 anchored, 128 without regard to diacritics.
/// The others are ours: `FaultlineStringCompare` orders two folded texts, `FaultlineStringLike` and
/// `FaultlineStringMatch` compare with wildcards and with a regular expression.
enum SQLFunctions {
    static func register(on connection: OpaquePointer) -> Int32 {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        let functions:
            [(String, Int32, @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void)] = [
                ("NSCoreDataStringSearch", 4, { SQLFunctions.search($0, $2) }),
                ("FaultlineStringCompare", 3, { SQLFunctions.compare($0, $2) }),
                ("FaultlineStringLike", 3, { SQLFunctions.like($0, $2) }),
                ("FaultlineStringMatch", 3, { SQLFunctions.match($0, $2) }),
            ]
        for (name, arguments, function) in functions {
            let result = sqlite3_create_function_v2(
                connection, name, arguments, flags, nil, function, nil, nil, nil)
            guard result == SQLITE_OK else { return result }
        }
        return SQLITE_OK
    }

    /// What is worked out of a pattern once for all rows of a statement (`sqlite3_set_auxdata`).
    private final class Pattern {
        let folded: [UInt8]
        let options: TextOptions
        let expression: NSRegularExpression?

        init(_ text: String, _ options: TextOptions, isExpression: Bool) {
            folded = Array(options.fold(text).utf8)
            self.options = options
            expression = isExpression ? Self.expression(text, options) : nil
        }

        /// MATCHES means the whole text, so what is an alternative for a part of it must not win.
        private static func expression(_ text: String, _ options: TextOptions) -> NSRegularExpression? {
            let pattern = options.contains(.diacriticInsensitive) ? options.fold(text) : text
            let flags: NSRegularExpression.Options = options.contains(.caseInsensitive) ? [.caseInsensitive] : []
            // Some that are sound alone are not in a group: such as end in a comment.
            return (try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags))
                ?? (try? NSRegularExpression(pattern: pattern, options: flags))
        }
    }

    private static func pattern(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>, isExpression: Bool = false
    ) -> Pattern? {
        if let kept = sqlite3_get_auxdata(context, 1) {
            return Unmanaged<Pattern>.fromOpaque(kept).takeUnretainedValue()
        }
        guard let text = text(arguments[1]) else { return nil }
        let options = TextOptions(rawValue: Int(sqlite3_value_int64(arguments[2])))
        let pattern = Pattern(text, options, isExpression: isExpression)
        sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(pattern).toOpaque()) {
            Unmanaged<Pattern>.fromOpaque($0!).release()
        }
        return pattern
    }

    private static func text(_ value: OpaquePointer?) -> String? {
        guard let bytes = sqlite3_value_text(value) else { return nil }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func search(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let bytes = sqlite3_value_text(arguments[0]), let pattern = pattern(context, arguments)
        else {
            return sqlite3_result_int(context, 0)
        }
        let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[0])))
        let found = pattern.options.withFolded(text) { folded in
            pattern.folded.withUnsafeBufferPointer { wanted in
                if pattern.options.contains(.anchored) {
                    return pattern.options.contains(.backwards)
                        ? TextSearch.ends(folded, with: wanted) : TextSearch.begins(folded, with: wanted)
                }
                return TextSearch.contains(folded, wanted)
            }
        }
        sqlite3_result_int(context, found ? 1 : 0)
    }

    private static func compare(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let bytes = sqlite3_value_text(arguments[0]), let pattern = pattern(context, arguments)
        else {
            return sqlite3_result_null(context)
        }
        let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[0])))
        let order = pattern.options.withFolded(text) { folded in
            pattern.folded.withUnsafeBufferPointer { TextSearch.compare(folded, $0) }
        }
        sqlite3_result_int(context, order)
    }

    private static func like(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let text = text(arguments[0]), let pattern = pattern(context, arguments) else {
            return sqlite3_result_int(context, 0)
        }
        let folded = pattern.options.fold(text)
        let wanted = String(decoding: pattern.folded, as: UTF8.self)
        sqlite3_result_int(context, TextSearch.matches(folded, wildcards: wanted) ? 1 : 0)
    }

    private static func match(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let given = text(arguments[0]),
            let pattern = pattern(context, arguments, isExpression: true)
        else { return sqlite3_result_int(context, 0) }
        guard let expression = pattern.expression else {
            return sqlite3_result_error(context, "the regular expression cannot be read", -1)
        }
        let text = pattern.options.contains(.diacriticInsensitive) ? pattern.options.fold(given) : given
        let range = NSRange(text.startIndex..., in: text)
        let match = expression.firstMatch(in: text, options: [.anchored], range: range)
        sqlite3_result_int(context, match?.range == range ? 1 : 0)
    }
}
