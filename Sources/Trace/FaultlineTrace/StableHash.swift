/// Hashes that are the same in every run, unlike Swift's own, for choosing samples and seeding random numbers.
package enum StableHash {
    /// Spreads a number over 64 bits (the finaliser of SplitMix64).
    package static func mix(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// FNV-1a over the bytes of a text.
    package static func text(_ text: some StringProtocol) -> UInt64 {
        let hash = { (bytes: UnsafeBufferPointer<UInt8>) in
            bytes.reduce(offset) { ($0 ^ UInt64($1)) &* prime }
        }
        return text.utf8.withContiguousStorageIfAvailable(hash) ?? Array(text.utf8).withUnsafeBufferPointer(hash)
    }

    /// FNV-1a over numbers.
    package static func fold(_ numbers: [UInt64]) -> UInt64 {
        numbers.reduce(offset) { ($0 ^ $1) &* prime }
    }

    private static var offset: UInt64 { 0xCBF2_9CE4_8422_2325 }
    private static var prime: UInt64 { 0x0000_0100_0000_01B3 }

    /// The hash of an event's place in its trace.
    package static func event(process: UInt32, id: UInt64) -> UInt64 {
        mix(mix(UInt64(process)) ^ id)
    }
}
