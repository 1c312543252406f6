internal import Foundation

/// Reads binary property lists, whose format is described in CFBinaryPList.c
/// (https://github.com/swiftlang/swift-corelibs-foundation/blob/main/Sources/CoreFoundation/CFBinaryPList.c).
///
/// Foundation reads them too, but without access to the references of a keyed archive on Linux. Each read is checked to be within
/// the data, and ``Limit`` bounds the work that a hostile file can cause.
struct BinaryPropertyList {
    /// Limits far above those of real archives.
    enum Limit {
        static let depth = 32
        /// The number of objects and of their bytes.
        ///
        /// Objects that are referred to twice count twice. Real expressions have about 40 objects and 1 KiB.
        static let expression = 1_000_000
        /// The same for a model, whose entities have up to 6,000 each.
        static let model = 2_000_000
    }

    private static let damaged = ArchiveFailure("ends too early or is damaged")
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let table: Int
    private let limit: Int
    private var size = 0

    /// - Parameter limit: The largest number of objects and bytes, one of ``Limit``.
    static func read(_ data: Data, limit: Int) throws(ArchiveFailure) -> PropertyListValue {
        var (list, top) = try open(Array(data), limit: limit)
        return try list.object(top, depth: 0)
    }

    /// Reads the trailer, which says where the objects are and which of them is the outermost one.
    private static func open(_ bytes: [UInt8], limit: Int) throws(ArchiveFailure) -> (Self, top: Int) {
        let start = bytes.count - trailerSize
        guard start >= 8 else { throw damaged }
        func number(_ index: Int) throws(ArchiveFailure) -> Int {
            guard let value = unsigned(bytes, at: start + 8 * index, 8).flatMap({ Int(exactly: $0) }) else {
                throw damaged
            }
            return value
        }
        let (offsetSize, referenceSize) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
        let (count, top, table) = (try number(1), try number(2), try number(3))
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), table >= 8, table <= start,
            count <= (start - table) / offsetSize
        else { throw damaged }
        return (
            Self(
                bytes: bytes, offsetSize: offsetSize, referenceSize: referenceSize, count: count, table: table,
                limit: limit), top
        )
    }

    private init(bytes: [UInt8], offsetSize: Int, referenceSize: Int, count: Int, table: Int, limit: Int) {
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.count = count
        self.table = table
        self.limit = limit
    }

    // MARK: Objects

    private mutating func object(_ number: Int, depth: Int) throws(ArchiveFailure) -> PropertyListValue {
        guard depth < Limit.depth else { throw ArchiveFailure("nests lists more than \(Limit.depth) levels deep") }
        try add(1)
        guard number < count,
            let offset = Self.unsigned(bytes, at: table + number * offsetSize, offsetSize)
                .flatMap({ Int(exactly: $0) }),
            offset >= 8, offset < table
        else { throw Self.damaged }
        let low = bytes[offset] & 15
        let start = offset + 1
        switch bytes[offset] >> 4 {
        case 0: return try singleton(low)
        case 1: return .integer(try integer(at: start, power: low))
        case 2 where low == 2:
            return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try unsigned(at: start, 4)))))
        case 2 where low == 3: return .real(Double(bitPattern: try unsigned(at: start, 8)))
        case 3 where low == 3:
            return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try unsigned(at: start, 8))))
        case 4: return .data(Data(bytes[try range(low, start, width: 1)]))
        case 5, 6: return .string(try string(low, start, isWide: bytes[offset] >> 4 == 6))
        case 8:
            guard let reference = Int(exactly: try unsigned(at: start, Int(low) + 1)) else { throw Self.damaged }
            return .reference(reference)
        case 10:
            var values: [PropertyListValue] = []
            for reference in try references(low, start, perElement: 1) {
                values.append(try object(reference, depth: depth + 1))
            }
            return .array(values)
        case 13:
            let references = try references(low, start, perElement: 2)
            let half = references.count / 2
            var values: [String: PropertyListValue] = [:]
            for index in 0..<half {
                guard let key = try object(references[index], depth: depth + 1).string else { throw Self.damaged }
                values[key] = try object(references[half + index], depth: depth + 1)
            }
            return .dictionary(values)
        default: throw Self.damaged
        }
    }

    private func singleton(_ low: UInt8) throws(ArchiveFailure) -> PropertyListValue {
        switch low {
        case 0: return .null
        case 8: return .boolean(false)
        case 9: return .boolean(true)
        default: throw Self.damaged
        }
    }

    /// Reads an integer of 2 to the given power bytes; shorter ones than 8 bytes are unsigned.
    private func integer(at start: Int, power: UInt8) throws(ArchiveFailure) -> Int64 {
        guard power <= 4 else { throw Self.damaged }
        if power < 4 { return Int64(bitPattern: try unsigned(at: start, 1 << Int(power))) }
        guard try unsigned(at: start, 8) == 0, let value = Int64(exactly: try unsigned(at: start + 8, 8)) else {
            throw ArchiveFailure("has an integer of more than 64 bits")
        }
        return value
    }

    private mutating func string(_ low: UInt8, _ start: Int, isWide: Bool) throws(ArchiveFailure) -> String {
        let bytes = bytes[try range(low, start, width: isWide ? 2 : 1)]
        let text =
            if isWide {
                String(
                    validating: stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
                        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
                    }, as: UTF16.self)
            } else {
                String(validating: bytes, as: UTF8.self)
            }
        guard let text else { throw Self.damaged }
        return text
    }

    // MARK: Bytes

    private mutating func add(_ amount: Int) throws(ArchiveFailure) {
        size += amount
        guard size <= limit else { throw ArchiveFailure("is larger than any that Core Data writes") }
    }

    /// Returns where the content of an object is: after its count, which is in the marker or in an integer that follows it.
    private mutating func range(_ low: UInt8, _ start: Int, width: Int) throws(ArchiveFailure) -> Range<Int> {
        var (count, begin) = (Int(low), start)
        if low == 15 {
            guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else { throw Self.damaged }
            let power = bytes[start] & 15
            guard let long = Int(exactly: try integer(at: start + 1, power: power)), long >= 0 else {
                throw Self.damaged
            }
            (count, begin) = (long, start + 1 + 1 << Int(power))
        }
        guard begin <= table, count <= (table - begin) / width else { throw Self.damaged }
        try add(count)
        return begin..<(begin + count * width)
    }

    private mutating func references(
        _ low: UInt8, _ start: Int, perElement: Int
    ) throws(ArchiveFailure) -> [Int] {
        let range = try range(low, start, width: perElement * referenceSize)
        return try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map {
            position throws(ArchiveFailure) in
            guard let number = Int(exactly: try unsigned(at: position, referenceSize)) else { throw Self.damaged }
            return number
        }
    }

    private func unsigned(at start: Int, _ size: Int) throws(ArchiveFailure) -> UInt64 {
        guard let value = Self.unsigned(bytes, at: start, size) else { throw Self.damaged }
        return value
    }

    /// Returns a number of big-endian bytes, or `nil` if they are not all there or exceed 64 bits.
    private static func unsigned(_ bytes: [UInt8], at start: Int, _ size: Int) -> UInt64? {
        guard start >= 0, size <= bytes.count, start <= bytes.count - size else { return nil }
        let number = bytes[start..<(start + size)]
        guard number.dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
        return number.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
