/// Removes the sequences that colour text in a terminal: `ESC [ 1 ; 31 m`.
enum TerminalColours {
    /// Removes the sequences from a text.
    static func removed(from text: String) -> String {
        guard text.utf8.contains(0x1B) else { return text }
        return String(decoding: Array(text.utf8).withUnsafeBytes(removed), as: UTF8.self)
    }

    /// Removes the sequences from bytes; an incomplete sequence loses only its escape character.
    static func removed(from bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == 0x1B else {
                plain.append(byte)
                continue
            }
            // Intermediate bytes, such as quotation marks, are not accepted: the escape may be part of a string in SQL.
            let behind = rest.dropFirst().drop { (0x30...0x3F).contains($0) }
            guard rest.first == UInt8(ascii: "["), let last = behind.first, (0x40...0x7E).contains(last) else {
                continue
            }
            rest = behind.dropFirst()
        }
        return plain
    }
}
