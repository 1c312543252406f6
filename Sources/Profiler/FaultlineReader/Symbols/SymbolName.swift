import CElfutils
import Glibc

/// Demangles symbols.
enum SymbolName {
    /// Returns `"Groceries.showList(page: Int) -> ()"` for a mangled Swift name, and likewise for C++; C names stay
    /// unchanged.
    static func words(for symbol: String) -> String {
        if symbol.hasPrefix("_Z") { return take(__cxa_demangle(symbol, nil, nil, nil)) ?? symbol }
        guard symbol.hasPrefix("$") || symbol.hasPrefix("_$") || symbol.hasPrefix("_T") else { return symbol }
        guard let words = take(swift_demangle(symbol, symbol.utf8.count, nil, nil, 0)) else { return symbol }
        return simplified(words)
    }

    private static func take(_ words: UnsafeMutablePointer<CChar>?) -> String? {
        guard let words else { return nil }
        defer { free(words) }
        return String(cString: words)
    }

    /// Removes `Swift.` before the types of parameters and results.
    ///
    /// A function's own module stays, since it distinguishes the standard library's functions from a program's.
    static func simplified(_ words: String) -> String {
        let text = Array(words.utf8)
        let module = Array("Swift.".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var at = 0
        while at < text.count {
            if text[at] == module[0], text[at...].starts(with: module), isTypePosition(text, at) {
                at += module.count
            } else {
                result.append(text[at])
                at += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isTypePosition(_ text: [UInt8], _ at: Int) -> Bool {
        guard at > 0 else { return false }
        if "(<[".utf8.contains(text[at - 1]) { return true }
        return at > 1 && text[at - 1] == UInt8(ascii: " ") && ":,>=&".utf8.contains(text[at - 2])
    }
}
