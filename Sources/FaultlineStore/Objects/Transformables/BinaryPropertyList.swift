import Foundation

/// Reads a binary property list, object by object, without trusting a byte of it.
///
/// Foundation's reader gives no access to what a keyed archive is made of, the references of one object to another. The
/// format: a header `bplist00`; objects, each with a byte that says kind and length; a table of their offsets; a trailer
/// of 32 bytes with the sizes of offsets and references, the number of objects, the top one, and where the table is.
/// All numbers are big-endian.
struct BinaryPropertyList {
    /// Why bytes are no property list.
    struct Malformed: Error {}

    /// One object; what a collection holds is given as places of other objects.
    enum Object {
        case null
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001-01-01 00:00 UTC.
        case date(Double)
        case data(Data)
        case string(String)
        /// A reference of a keyed archive.
        case uid(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    static let header = Data("bplist00".utf8)

    /// How deep collections may lie in each other.
    static let depthLimit = 256

    private let bytes: [UInt8]
    /// How many bytes there are: a reader that meets more objects than that is being led in circles, or through the same
    /// collections again and again.
    var size: Int { bytes.count }
    private let offsetSize: Int
    private let referenceSize: Int
    private let table: Int
    let count: Int
    /// The place of the object that the list is.
    let top: Int

    init(_ data: Data) throws(Malformed) {
        guard data.count >= 40, data.starts(with: Self.header) else { throw Malformed() }
        bytes = Array(data)
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else { throw Malformed() }
        count = try Self.integer(bytes, trailer + 8, 8)
        top = try Self.integer(bytes, trailer + 16, 8)
        table = try Self.integer(bytes, trailer + 24, 8)
        guard top < count, table >= 8, table <= trailer, count <= (trailer - table) / offsetSize else {
            throw Malformed()
        }
    }

    /// The object at a place.
    func object(_ place: Int) throws(Malformed) -> Object {
        guard (0..<count).contains(place) else { throw Malformed() }
        let offset = try Self.integer(bytes, table + place * offsetSize, offsetSize)
        guard offset >= 8, offset < table else { throw Malformed() }
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0xf))
        switch (kind, low) {
        case (0, 0): return .null
        case (0, 8): return .boolean(false)
        case (0, 9): return .boolean(true)
        case (1, 0...3): return .integer(try signed(offset + 1, 1 << low))
        // 16 bytes are for numbers above Int64.max.
        case (1, 4): return .integer(Int64(bitPattern: try word(offset + 9)))
        case (2, 2): return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try signed(offset + 1, 4)))))
        case (2, 3): return .real(Double(bitPattern: try word(offset + 1)))
        case (3, 3): return .date(Double(bitPattern: try word(offset + 1)))
        case (4, _):
            let range = try content(offset, low, unit: 1)
            return .data(Data(bytes[range]))
        case (5, _): return .string(String(decoding: bytes[try content(offset, low, unit: 1)], as: UTF8.self))
        case (6, _):
            let range = try content(offset, low, unit: 2)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        case (8, 0...7): return .uid(try Self.integer(bytes, offset + 1, low + 1))
        // Sets are written as arrays are.
        case (0xa...0xc, _): return .array(try references(try content(offset, low, unit: referenceSize)))
        case (0xd, _):
            let references = try references(try content(offset, low, unit: referenceSize * 2))
            let half = references.count / 2
            return .dictionary((0..<half).map { (references[$0], references[half + $0]) })
        default: throw Malformed()
        }
    }

    private func references(_ range: Range<Int>) throws(Malformed) -> [Int] {
        var references: [Int] = []
        references.reserveCapacity(range.count / referenceSize)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
            references.append(try Self.integer(bytes, offset, referenceSize))
        }
        return references
    }

    /// Where the bytes behind an object's first lie; 15 in it means that its length follows as an object of its own.
    private func content(_ offset: Int, _ low: Int, unit: Int) throws(Malformed) -> Range<Int> {
        var (start, length) = (offset + 1, low)
        if low == 0xf {
            guard start < table, bytes[start] >> 4 == 1, bytes[start] & 0xf <= 3 else { throw Malformed() }
            let size = 1 << Int(bytes[start] & 0xf)
            length = try Self.integer(bytes, start + 1, size)
            start += 1 + size
        }
        guard start <= table, length <= (table - start) / unit else { throw Malformed() }
        return start..<start + length * unit
    }

    private func word(_ offset: Int) throws(Malformed) -> UInt64 {
        UInt64(bitPattern: try signed(offset, 8))
    }

    /// Numbers of eight bytes have a sign, shorter ones have none.
    private func signed(_ offset: Int, _ size: Int) throws(Malformed) -> Int64 {
        guard offset >= 0, offset + size <= table else { throw Malformed() }
        var value: UInt64 = 0
        for place in offset..<offset + size { value = value << 8 | UInt64(bytes[place]) }
        return Int64(bitPattern: value)
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ size: Int) throws(Malformed) -> Int {
        guard offset >= 0, offset <= bytes.count - size else { throw Malformed() }
        var value: UInt64 = 0
        for place in offset..<offset + size { value = value << 8 | UInt64(bytes[place]) }
        // Nothing that is counted here is longer than the bytes.
        guard value <= UInt64(bytes.count) else { throw Malformed() }
        return Int(value)
    }
}
