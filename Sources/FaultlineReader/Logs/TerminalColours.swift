/// The sequences that colour a text in a terminal: `ESC [ 1 ; 31 m`.
enum TerminalColours {
    /// A text without them.
    static func removed(from text: String) -> String {
        guard text.utf8.contains(0x1B) else { return text }
        return String(decoding: Array(text.utf8).withUnsafeBytes(removed), as: UTF8.self)
    }

    /// Bytes without them; what only begins like one is left without its escape.
    static func removed(from bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == 0x1B else {
                plain.append(byte)
                continue
            }
            // Quotation marks are among the parameters that the standard allows, and in no sequence that a terminal knows.
            let behind = rest.dropFirst().drop { (0x30...0x3F).contains($0) }
            guard rest.first == UInt8(ascii: "["), let last = behind.first, (0x40...0x7E).contains(last) else {
                continue
            }
            rest = behind.dropFirst()
        }
        return plain
    }
}
