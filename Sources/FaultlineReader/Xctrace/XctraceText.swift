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
