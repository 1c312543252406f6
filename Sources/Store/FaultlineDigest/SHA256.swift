/// The hash function SHA-256 (FIPS 180-4).
///
/// It identifies versions of models, and names the code that a page's policy lets run. A library for this would have to be
/// built by everyone who uses the store, and is a thousand times as large.
package enum SHA256 {
    /// Returns the 32 bytes of a text's hash.
    package static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }

    /// Returns the 32 bytes of the hash of bytes.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var message = bytes
        let bits = UInt64(message.count) * 8
        message.append(0x80)
        while message.count % 64 != 56 { message.append(0) }
        message += (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
        var state = initial
        for block in stride(from: 0, to: message.count, by: 64) {
            compress(message[block..<block + 64], into: &state)
        }
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let first = block.startIndex
        var words = (0..<16).map { index in
            (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[first + index * 4 + $1]) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let mixed = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
            let other = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
            words.append(words[index - 16] &+ mixed &+ words[index - 7] &+ other)
        }
        var s = state
        for index in 0..<64 {
            let sum = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)
            let choice = s[4] & s[5] ^ ~s[4] & s[6]
            let next = s[7] &+ sum &+ choice &+ constants[index] &+ words[index]
            let other = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)
            let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
            for position in (1..<8).reversed() { s[position] = s[position - 1] }
            s[4] &+= next
            s[0] = next &+ other &+ majority
        }
        for index in state.indices { state[index] &+= s[index] }
    }

    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initial = primes(8).map { fraction(Double($0).squareRoot()) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants = primes(64).map { prime in fraction(cubeRoot(Double(prime))) }

    private static func primes(_ count: Int) -> [Int] {
        var found: [Int] = []
        var candidate = 2
        while found.count < count {
            if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
            candidate += 1
        }
        return found
    }

    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }

    /// Newton's method; the result has 50 bits or more, of which 3 are before the point.
    private static func cubeRoot(_ number: Double) -> Double {
        (0..<40).reduce(number) { root, _ in root - (root * root * root - number) / (3 * root * root) }
    }
}
