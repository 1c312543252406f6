import FaultlineTrace
import Foundation

/// A condition of Core Data, split into its comparisons.
///
///     ( t0.ZSHELF = ? AND  t0.ZPAGES > ?)
struct ConditionText {
    /// The number of conjunctions within one another that are read.
    private static let maximumDepth = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The position of the closing parenthesis at the position of each opening one that has one, and 0 elsewhere.
    private let ends: [UInt32]

    /// The comparisons of a column with one value each, from left to right, with or without parentheses; `nil` if
    /// there are conditions of another form.
    ///
    /// - Complexity: O(*n*).
    static func terms(_ predicate: String) -> [ShapeEntry.Term]? {
        predicate[...].withBytes { bytes in
            var terms: [ShapeEntry.Term] = []
            return ConditionText(bytes).collect(in: 0..<bytes.count, depth: 0, into: &terms) ? terms : nil
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var (open, ends) = ([Int](), [UInt32](repeating: 0, count: bytes.count))
        for (position, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "(") { open.append(position) }
            if byte == UInt8(ascii: ")"), let start = open.popLast() { ends[start] = UInt32(position) }
        }
        self.ends = ends
    }

    /// Adds the terms of a part; returns whether it has no other conditions.
    private func collect(in part: Range<Int>, depth: Int, into terms: inout [ShapeEntry.Term]) -> Bool {
        guard depth < Self.maximumDepth, let parts = conjuncts(of: bare(part)) else { return false }
        for part in parts {
            if parts.count > 1 {
                guard collect(in: part, depth: depth + 1, into: &terms) else { return false }
            } else if let term = term(part) {
                terms.append(term)
            } else {
                return false
            }
        }
        return true
    }

    /// A part without the parentheses around the whole of it.
    private func bare(_ part: Range<Int>) -> Range<Int> {
        var (start, end) = (part.lowerBound, part.upperBound)
        while true {
            while start < end, bytes[start] == 0x20 { start += 1 }
            while start < end, bytes[end - 1] == 0x20 { end -= 1 }
            guard start + 1 < end, bytes[start] == UInt8(ascii: "("), ends[start] == end - 1 else {
                return start..<end
            }
            (start, end) = (start + 1, end - 1)
        }
    }

    /// Splits a part at each AND outside parentheses; `nil` if there is an OR.
    private func conjuncts(of part: Range<Int>) -> [Range<Int>]? {
        var (depth, parts, start, end) = (0, [Range<Int>](), part.lowerBound, part.lowerBound)
        while end < part.upperBound {
            let word = bytes.word(from: end).clamped(to: part)
            end = word.upperBound
            if depth == 0, bytes[word].elementsEqual("OR".utf8) { return nil }
            if depth == 0, bytes[word].elementsEqual("AND".utf8) {
                parts.append(start..<word.lowerBound)
                start = end
            }
            depth += bytes.depth(of: word)
        }
        return parts + [start..<part.upperBound]
    }

    private func term(_ part: Range<Int>) -> ShapeEntry.Term? {
        if bytes.hasBytes("NSCoreData", at: part.lowerBound) { return search(part) }
        var (words, end) = ([String](), part.lowerBound)
        while words.count < 4, case let word = bytes.word(from: end).clamped(to: part), !word.isEmpty {
            words.append(String(decoding: bytes[word], as: UTF8.self))
            end = word.upperBound
        }
        let operations = ["=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "<>": "!=", "!=": "!="]
        guard words.count == 3, words.contains("?"), let operation = operations[words[1]] else { return nil }
        // Core Data puts the value first if the predicate does: "? <= t0.ZTIME".
        let isMirrored = words[0] == "?"
        let mirrored = ["<": ">", ">": "<", "<=": ">=", ">=": "<="]
        let name = isMirrored ? words[2] : words[0]
        guard name.hasPrefix("t"), name.contains(".") else { return nil }
        let column = SelectText.column(name[...])
        return ShapeEntry.Term(
            keyPath: column == "Z_PK" ? "SELF" : String(column),
            operation: isMirrored ? mirrored[operation] ?? operation : operation)
    }

    /// The term for `NSCoreDataStringSearch( t0.ZTITLE, ?, 129, 0)`, whose third argument is Foundation's comparison
    /// options; `nil` if it is another expression.
    private func search(_ part: Range<Int>) -> ShapeEntry.Term? {
        let function = "NSCoreDataStringSearch("
        let text = String(decoding: bytes[part].lazy.filter { $0 != 0x20 }.prefix(1024), as: UTF8.self)
        guard text.hasPrefix(function), text.hasSuffix(")") else { return nil }
        let arguments = text.dropFirst(function.count).dropLast()
            .split(separator: ",", omittingEmptySubsequences: false)
        let names = arguments[0].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = { (text: Substring) in !text.isEmpty && text.utf8.allSatisfy(\.isDigit) }
        guard arguments.count == 4, arguments[0].hasPrefix("t"), names.count == 2, isNumber(names[0]),
            !names[1].isEmpty, names[1].utf8.allSatisfy(SQLLexer.continuesWord), arguments[1] == "?",
            isNumber(arguments[2]), isNumber(arguments[3]), let number = UInt(arguments[2])
        else { return nil }
        let options = String.CompareOptions(rawValue: number)
        let disregarded =
            (options.contains(.caseInsensitive) ? "c" : "") + (options.contains(.diacriticInsensitive) ? "d" : "")
        let isAnchored = options.contains(.anchored)
        // A prefix search with options still calls a function, and no index serves it.
        guard !isAnchored || !disregarded.isEmpty else { return nil }
        let operation = !isAnchored ? "CONTAINS" : options.contains(.backwards) ? "ENDSWITH" : "BEGINSWITH"
        return ShapeEntry.Term(
            keyPath: String(SelectText.column(arguments[0])), operation: operation,
            options: disregarded.isEmpty ? nil : disregarded)
    }
}
