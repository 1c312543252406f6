import Foundation

/// A look at a file before Foundation's parser gets it, which ends the program at XML that no model file has:
/// names that are no UTF-8, processing instructions without text, notations without a name.
///
/// What could bring such things in by a detour is refused as well: another encoding, and a document type with
/// declarations of its own, whose entities can stand for anything.
struct XMLScreening {
    /// Why the file is not to be parsed.
    struct Refusal: Error {
        /// What the file is, after its name: `"has a processing instruction …"`.
        var text: String
        /// Whether it is XML at all.
        var isXML: Bool
    }

    private let bytes: [UInt8]
    private var place = 0

    /// - Complexity: O(*n*).
    static func check(_ data: Data) throws(Refusal) {
        var screening = XMLScreening(bytes: Array(data))
        try screening.check()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func check() throws(Refusal) {
        // A zero byte is no character of XML, but half of one in UTF-16.
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw Refusal(text: "is no XML in UTF-8", isXML: false)
        }
        if starts("\u{feff}") { place += 3 }
        if starts("<?xml "), let end = end(of: "?>") {
            try checkEncoding(String(decoding: bytes[place..<end], as: UTF8.self))
            place = end
        }
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else {
                place += 1
                continue
            }
            if starts("<!--") {
                place = end(of: "-->") ?? bytes.count
            } else if starts("<![CDATA[") {
                place = end(of: "]]>") ?? bytes.count
            } else if starts("<?") {
                // The beginning of a declaration that breaks off is no instruction.
                guard end(of: "?>") != nil else { throw Refusal(text: "is no XML", isXML: false) }
                throw refusal("has a processing instruction")
            } else if starts("<!DOCTYPE") {
                try skipDocumentType()
            } else {
                place += 1
            }
        }
    }

    private func checkEncoding(_ declaration: String) throws(Refusal) {
        guard let match = declaration.firstMatch(of: #/encoding\s*=\s*["']([^"']*)["']/#) else {
            guard !declaration.contains("encoding") else { throw Refusal(text: "is no XML in UTF-8", isXML: false) }
            return
        }
        guard ["utf-8", "us-ascii"].contains(match.1.lowercased()) else {
            throw Refusal(text: "is no XML in UTF-8", isXML: false)
        }
    }

    private mutating func skipDocumentType() throws(Refusal) {
        var quote: UInt8?
        while place < bytes.count {
            let byte = bytes[place]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw refusal("has a document type with declarations of its own")
            } else if byte == UInt8(ascii: ">") {
                return
            }
            place += 1
        }
    }

    private func refusal(_ text: String) -> Refusal {
        let line = bytes[..<place].count { $0 == UInt8(ascii: "\n") } + 1
        return Refusal(text: "\(text) in line \(line), which no model does", isXML: true)
    }

    private func starts(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

    /// The place behind the next occurrence of a text.
    private func end(of text: String) -> Int? {
        bytes[place...].firstRange(of: Array(text.utf8))?.upperBound
    }
}
