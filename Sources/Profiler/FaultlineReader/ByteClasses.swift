extension UInt8 {
    /// Whether the byte is white space of ASCII.
    var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    /// Whether the byte is a digit of ASCII.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
