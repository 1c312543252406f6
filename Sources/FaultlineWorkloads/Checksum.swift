extension UInt64 {
    /// Takes a text into a checksum over what a sample app shows, by which its forms are compared.
    mutating func add(_ text: String) {
        for byte in text.utf8 { self = self &* 31 &+ UInt64(byte) }
    }
}
