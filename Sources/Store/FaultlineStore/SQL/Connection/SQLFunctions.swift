import CSQLite
import Foundation

/// SQL functions for text comparisons that SQLite lacks.
///
/// `NSCoreDataStringSearch(text, pattern, options, 0)` is Core Data's: it searches the text for the pattern. The
/// options are Foundation's bits: 1 ignores case, 4 searches from the end, 8 is anchored, 128 ignores diacritics. The
/// others belong to this library: `FaultlineStringCompare` orders two folded texts, `FaultlineStringLike` and
/// `FaultlineStringMatch` match wildcards and regular expressions, and the rest are functions of the predicate format
/// that SQLite lacks, or does not support for all of Unicode.
enum SQLFunctions {
    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// The comparisons that the functions of a connection performed.
    struct Counts {
        var comparisons: UInt32 = 0
        /// The comparisons with a positive result.
        var matches: UInt32 = 0
    }

    /// Registers the functions on a connection.
    ///
    /// - Parameter counts: The counters, which must stay valid until the connection is closed.
    static func register(on connection: OpaquePointer, counts: UnsafeMutablePointer<Counts>) -> Int32 {
        let comparisons: [(String, Int32, Function)] = [
            ("NSCoreDataStringSearch", 4, { SQLFunctions.search($0, $2) }),
            ("FaultlineStringCompare", 3, { SQLFunctions.compare($0, $2) }),
            ("FaultlineStringLike", 3, { SQLFunctions.like($0, $2) }),
            ("FaultlineStringMatch", 3, { SQLFunctions.match($0, $2) }),
        ]
        // Triggers may call these.
        let values: [(String, Int32, Function)] = [
            ("FaultlineUppercase", 1, { SQLFunctions.change($0, $2) { $0.uppercased() } }),
            ("FaultlineLowercase", 1, { SQLFunctions.change($0, $2) { $0.lowercased() } }),
            ("FaultlineCanonical", 1, { SQLFunctions.change($0, $2) { TextOptions.canonical.fold($0) } }),
            ("FaultlineLength", 1, { SQLFunctions.length($0, $2) }),
            ("FaultlineExclusiveOr", 2, { SQLFunctions.exclusiveOr($0, $2) }),
        ]
        for (functions, access) in [(comparisons, SQLITE_DIRECTONLY), (values, SQLITE_INNOCUOUS)] {
            for (name, arguments, function) in functions {
                let result = sqlite3_create_function_v2(
                    connection, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | access, counts, function, nil,
                    nil, nil)
                guard result == SQLITE_OK else { return result }
            }
        }
        return SQLITE_OK
    }

    /// The prepared pattern, shared by all rows of a statement (`sqlite3_set_auxdata`).
    private static func pattern(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>, isExpression: Bool = false
    ) -> TextPattern? {
        if let kept = sqlite3_get_auxdata(context, 1) {
            return Unmanaged<TextPattern>.fromOpaque(kept).takeUnretainedValue()
        }
        guard let text = text(arguments[1]) else { return nil }
        let options = TextOptions(rawValue: Int(sqlite3_value_int64(arguments[2])))
        let pattern = TextPattern(text, options, isExpression: isExpression)
        sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(pattern).toOpaque()) {
            Unmanaged<TextPattern>.fromOpaque($0!).release()
        }
        return pattern
    }

    private static func count(_ context: OpaquePointer?, isMatch: Bool) {
        guard let counts = sqlite3_user_data(context)?.assumingMemoryBound(to: Counts.self) else { return }
        counts.pointee.comparisons &+= 1
        if isMatch { counts.pointee.matches &+= 1 }
    }

    /// Returns a Boolean result and counts the comparison.
    private static func answer(_ context: OpaquePointer?, _ isMatch: Bool) {
        count(context, isMatch: isMatch)
        sqlite3_result_int(context, isMatch ? 1 : 0)
    }

    private static func text(_ value: OpaquePointer?) -> String? {
        guard let bytes = sqlite3_value_text(value) else { return nil }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func search(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let bytes = sqlite3_value_text(arguments[0]), let pattern = pattern(context, arguments)
        else {
            return answer(context, false)
        }
        let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[0])))
        answer(context, pattern.isFound(in: text))
    }

    private static func compare(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let bytes = sqlite3_value_text(arguments[0]), let pattern = pattern(context, arguments)
        else {
            count(context, isMatch: false)
            return sqlite3_result_null(context)
        }
        let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(arguments[0])))
        let order = pattern.order(of: text)
        count(context, isMatch: order == 0)
        sqlite3_result_int(context, order)
    }

    private static func like(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let text = text(arguments[0]), let pattern = pattern(context, arguments) else {
            return answer(context, false)
        }
        answer(context, pattern.fitsWildcards(text))
    }

    private static func match(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let text = text(arguments[0]),
            let pattern = pattern(context, arguments, isExpression: true)
        else { return answer(context, false) }
        guard let fits = pattern.fitsExpression(text) else {
            return sqlite3_result_error(context, "the regular expression is invalid", -1)
        }
        answer(context, fits)
    }

    // MARK: - Values

    private static func change(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ change: (String) -> String
    ) {
        guard let arguments, var text = text(arguments[0]).map(change) else { return sqlite3_result_null(context) }
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { csqlite_result_text(context, $0.baseAddress, Int32($0.count)) }
        }
    }

    private static func length(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, let text = text(arguments[0]) else { return sqlite3_result_null(context) }
        sqlite3_result_int64(context, Int64(text.utf16.count))
    }

    private static func exclusiveOr(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL,
            sqlite3_value_type(arguments[1]) != SQLITE_NULL
        else { return sqlite3_result_null(context) }
        sqlite3_result_int64(context, sqlite3_value_int64(arguments[0]) ^ sqlite3_value_int64(arguments[1]))
    }
}
