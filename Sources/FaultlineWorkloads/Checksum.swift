extension UInt64 {
    /// Adds a text to the checksum of a sample app's output, which is used to compare its forms.
    mutating func add(_ text: String) {
        for byte in text.utf8 { self = self &* 31 &+ UInt64(byte) }
    }
}
