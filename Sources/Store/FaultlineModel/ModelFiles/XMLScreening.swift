import Foundation

/// Checks a file before Foundation's parser reads it.
///
/// The parser ends the process on XML that no such file contains: names that are not UTF-8, processing instructions
/// without text, and notations without a name. Indirect ways to such contents are refused too: other encodings, and a
/// document type with declarations, whose entities can expand to anything.
struct XMLScreening {
    /// The reason why the file must not be parsed.
    struct Refusal: Error {
        /// The reason, worded to follow the file's name: `"has a processing instruction …"`.
        var text: String
        /// Whether the file is XML.
        var isXML: Bool
    }

    /// The most attributes of an element, far above any model's: the parser compares each of them with all others.
    private static let maximumAttributes = 1000

    private let bytes: [UInt8]
    private var position = 0

    /// - Complexity: O(*n*).
    static func check(_ data: Data) throws(Refusal) {
        var screening = XMLScreening(bytes: Array(data))
        try screening.check()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func check() throws(Refusal) {
        // XML contains no zero bytes; they are halves of UTF-16 characters.
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw Refusal(text: "is not XML in UTF-8", isXML: false)
        }
        if starts("\u{feff}") { position += 3 }
        if starts("<?xml "), let end = end(of: "?>") {
            try checkEncoding(String(decoding: bytes[position..<end], as: UTF8.self))
            position = end
        }
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                position += 1
                continue
            }
            if starts("<!--") {
                position = end(of: "-->") ?? bytes.count
            } else if starts("<![CDATA[") {
                position = end(of: "]]>") ?? bytes.count
            } else if starts("<?") {
                // A declaration that is cut off is not a processing instruction.
                guard end(of: "?>") != nil else { throw Refusal(text: "is not XML", isXML: false) }
                throw refusal("has a processing instruction")
            } else if starts("<!DOCTYPE") {
                try skipDocumentType()
            } else {
                try skipTag()
            }
        }
    }

    /// Skips a tag up to its end or, if it is damaged, to the beginning of the next one.
    private mutating func skipTag() throws(Refusal) {
        var (quote, attributes): (UInt8?, Int) = (nil, 0)
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            let byte = bytes[position]
            if quote != nil {
                if byte == quote { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return
            } else if byte == UInt8(ascii: "=") {
                attributes += 1
                if attributes > Self.maximumAttributes {
                    throw refusal("has an element with more than \(Self.maximumAttributes) attributes")
                }
            }
            position += 1
        }
    }

    private func checkEncoding(_ declaration: String) throws(Refusal) {
        guard let match = declaration.firstMatch(of: #/encoding\s*=\s*["']([^"']*)["']/#) else {
            guard !declaration.contains("encoding") else { throw Refusal(text: "is not XML in UTF-8", isXML: false) }
            return
        }
        guard ["utf-8", "us-ascii"].contains(match.1.lowercased()) else {
            throw Refusal(text: "is not XML in UTF-8", isXML: false)
        }
    }

    private mutating func skipDocumentType() throws(Refusal) {
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw refusal("has a document type with its own declarations")
            } else if byte == UInt8(ascii: ">") {
                return
            }
            position += 1
        }
    }

    private func refusal(_ text: String) -> Refusal {
        let line = bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1
        return Refusal(text: "\(text) in line \(line), which is not allowed", isXML: true)
    }

    private func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    /// The index after the next occurrence of a text.
    private func end(of text: String) -> Int? {
        bytes[position...].firstRange(of: Array(text.utf8))?.upperBound
    }
}
