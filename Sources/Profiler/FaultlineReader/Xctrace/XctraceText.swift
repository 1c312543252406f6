import Foundation

/// Cleans a file before Foundation's parser reads it.
///
/// The parser ends the process on XML that no export contains: names that are not UTF-8, processing instructions
/// without text, and notations without a name. Damaged bytes cost the values that contain them, not the file.
enum XctraceText {
    /// Returns the text as UTF-8, with replacement characters for invalid bytes, and processing instructions turned
    /// into text.
    ///
    /// - Returns: `nil` if the encoding is another one, or there is a document type, whose entities could expand to
    ///   anything.
    /// - Complexity: O(*n*), in memory too.
    static func readable(_ data: Data) -> Data? {
        guard !data.contains(0), !hasOtherEncoding(data), data.range(of: Data("<!DOCTYPE".utf8)) == nil
        else { return nil }
        let isSound = data.withUnsafeBytes { bytes in String(validating: bytes, as: UTF8.self) != nil }
        var data = isSound ? data : Data(String(decoding: data, as: UTF8.self).utf8)
        let opening = Data("<?".utf8)
        var position = data.starts(with: Data("<?xml ".utf8)) ? data.startIndex + 2 : data.startIndex
        while let found = data.range(of: opening, in: position..<data.endIndex) {
            data.replaceSubrange(found, with: [UInt8(ascii: " "), UInt8(ascii: " ")])
            position = found.upperBound
        }
        return data
    }

    /// Limits far above any export, beyond which the time and memory of the parser would not be bounded: it compares each
    /// attribute of an element with all others.
    enum Limit {
        static let attributes = 1000
        static let tagLength = 1 << 20
    }

    /// Searches for a tag that exceeds a limit.
    ///
    /// - Returns: Its line, and what is wrong with it, worded to follow "the element in line 1": `"has more than …"`.
    /// - Complexity: O(*n*).
    static func excess(in data: Data) -> (line: Int, text: String)? {
        data.withUnsafeBytes { bytes in
            var position = 0
            while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
                var (quote, attributes): (UInt8?, Int) = (nil, 0)
                position = start + 1
                // A comment is not a tag.
                if position < bytes.count, bytes[position] == UInt8(ascii: "!") { continue }
                // No tag contains the beginning of another, not even in the value of an attribute.
                while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
                    let byte = bytes[position]
                    if quote != nil {
                        if byte == quote { quote = nil }
                    } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                        quote = byte
                    } else if byte == UInt8(ascii: ">") {
                        break
                    } else if byte == UInt8(ascii: "=") {
                        attributes += 1
                    }
                    position += 1
                }
                let text =
                    attributes > Limit.attributes
                    ? "has more than \(Limit.attributes) attributes"
                    : position - start > Limit.tagLength ? "has a tag of more than \(Limit.tagLength) bytes" : nil
                if let text { return (bytes[..<start].count { $0 == 0x0A } + 1, text) }
            }
            return nil
        }
    }

    /// The documents of a file, without the text between them.
    ///
    /// - Complexity: O(*n*).
    static func documents(_ data: Data) -> [Data] {
        let (opening, closing) = (Data("<trace-query-result".utf8), Data("</trace-query-result>".utf8))
        var starts: [Data.Index] = []
        var position = data.startIndex
        while let found = data.range(of: opening, in: position..<data.endIndex) {
            starts.append(found.lowerBound)
            position = found.upperBound
        }
        guard starts.count > 1 else { return [data] }
        // The text before the first is its declaration.
        starts[0] = data.startIndex
        return zip(starts, starts.dropFirst() + [data.endIndex]).map { start, end in
            let close = data.range(of: closing, options: .backwards, in: start..<end)
            return Data(data[start..<(close?.upperBound ?? end)])
        }
    }

    private static func hasOtherEncoding(_ data: Data) -> Bool {
        guard data.starts(with: Data("<?xml ".utf8)), let end = data.range(of: Data("?>".utf8)) else { return false }
        let declaration = String(decoding: data[..<end.lowerBound], as: UTF8.self)
        guard declaration.contains("encoding") else { return false }
        guard let match = declaration.firstMatch(of: #/encoding\s*=\s*["']([^"']*)["']/#) else { return true }
        return !["utf-8", "us-ascii"].contains(match.1.lowercased())
    }
}
