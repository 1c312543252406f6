import Foundation

/// Reads a binary property list object by object, and validates every byte.
///
/// Foundation's reader gives no access to the references between objects, which a keyed archive consists of. The
/// format: a header `bplist00`; objects, each starting with a byte for its kind and length; a table of their offsets; a
/// trailer of 32 bytes with the sizes of offsets and references, the number of objects, the index of the top object,
/// and the position of the table. All numbers are big-endian.
struct BinaryPropertyList {
    /// The bytes are not a valid property list.
    struct Malformed: Error {}

    /// One object; a collection contains the indexes of its members.
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

    /// The maximum nesting depth of collections.
    static let depthLimit = 256

    private let bytes: [UInt8]
    /// The number of bytes, which also limits how many objects a reader visits.
    ///
    /// More objects than bytes mean a reference cycle, or the same collections over and over.
    var size: Int { bytes.count }
    private let offsetSize: Int
    private let referenceSize: Int
    private let table: Int
    let count: Int
    /// The index of the top object.
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

    /// Returns the object at an index.
    func object(_ position: Int) throws(Malformed) -> Object {
        guard (0..<count).contains(position) else { throw Malformed() }
        let offset = try Self.integer(bytes, table + position * offsetSize, offsetSize)
        guard offset >= 8, offset < table else { throw Malformed() }
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0xf))
        switch (kind, low) {
        case (0, 0): return .null
        case (0, 8): return .boolean(false)
        case (0, 9): return .boolean(true)
        case (1, 0...3): return .integer(try signed(offset + 1, 1 << low))
        // 16-byte integers hold numbers above Int64.max.
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
        // Sets have the same encoding as arrays.
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

    /// The range of an object's content.
    ///
    /// A low nibble of 15 means that the length follows as an integer object.
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

    /// Reads a big-endian integer: signed if it has eight bytes, unsigned if it is shorter.
    private func signed(_ offset: Int, _ size: Int) throws(Malformed) -> Int64 {
        guard offset >= 0, offset + size <= table else { throw Malformed() }
        var value: UInt64 = 0
        for position in offset..<offset + size { value = value << 8 | UInt64(bytes[position]) }
        return Int64(bitPattern: value)
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ size: Int) throws(Malformed) -> Int {
        guard offset >= 0, offset <= bytes.count - size else { throw Malformed() }
        var value: UInt64 = 0
        for position in offset..<offset + size { value = value << 8 | UInt64(bytes[position]) }
        // No count or offset exceeds the number of bytes.
        guard value <= UInt64(bytes.count) else { throw Malformed() }
        return Int(value)
    }
}
