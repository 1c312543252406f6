internal import Foundation

/// Reads binary property lists, whose format is described in CFBinaryPList.c
/// (https://github.com/swiftlang/swift-corelibs-foundation/blob/main/Sources/CoreFoundation/CFBinaryPList.c).
///
/// Foundation reads them too, but without a bound: 60 arrays that each contain the next one twice have 2⁶⁰ members. Nor does it
/// give access to the references of a keyed archive on Linux. Here, each read is checked to be within the data, each object is read
/// once, and ``PropertyListValue/Limit`` bounds the list that the objects make.
struct BinaryPropertyList {
    private static let damaged = ArchiveFailure("ends too early or is damaged")
    private static let trailerSize = 32

    private enum Object {
        case unread
        /// An object whose contents are being read.
        case open
        case read(PropertyListValue, weight: Int, levels: Int)
    }

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let table: Int
    /// The objects, by number.
    private var known: [Object]
    private let limit: Int
    /// The number of objects so far; one that is referred to twice counts twice, with all that it contains.
    private var weight = 0
    /// The depth of the deepest object since ``object(_:depth:)`` last reset it.
    private var deepest = 0
    /// The number of bytes of objects so far, which is at most that of the data unless they overlap.
    private var size = 0

    /// - Parameter limit: The largest number of objects, as in ``PropertyListValue/Limit``.
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
        known = Array(repeating: .unread, count: count)
        self.table = table
        self.limit = limit
    }

    // MARK: - Objects

    private mutating func object(_ number: Int, depth: Int) throws(ArchiveFailure) -> PropertyListValue {
        guard known.indices.contains(number) else { throw Self.damaged }
        switch known[number] {
        case .read(let value, let weight, let levels):
            try reach(depth + levels)
            try add(weight)
            return value
        case .open: throw ArchiveFailure("has a list that contains itself")
        case .unread:
            known[number] = .open
            let before = (weight, deepest)
            deepest = 0
            try reach(depth)
            try add(1)
            let value = try readObject(number, depth: depth)
            known[number] = .read(value, weight: weight - before.0, levels: deepest - depth)
            deepest = max(deepest, before.1)
            return value
        }
    }

    /// Checks the depth of an object, or of the deepest one in a list that was read elsewhere.
    private mutating func reach(_ depth: Int) throws(ArchiveFailure) {
        let limit = PropertyListValue.Limit.depth
        guard depth < limit else { throw ArchiveFailure("nests lists more than \(limit) levels deep") }
        deepest = max(deepest, depth)
    }

    private mutating func readObject(_ number: Int, depth: Int) throws(ArchiveFailure) -> PropertyListValue {
        guard
            let offset = Self.unsigned(bytes, at: table + number * offsetSize, offsetSize)
                .flatMap({ Int(exactly: $0) }),
            offset >= 8, offset < table
        else { throw Self.damaged }
        let low = bytes[offset] & 15
        let start = offset + 1
        switch bytes[offset] >> 4 {
        case 0: return try singleton(low)
        case 1: return try integer(at: start, power: low)
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
        // Sets are written as arrays are.
        case 10, 11, 12:
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
    private func integer(at start: Int, power: UInt8) throws(ArchiveFailure) -> PropertyListValue {
        guard power <= 4 else { throw Self.damaged }
        if power < 4 { return .integer(Int64(bitPattern: try unsigned(at: start, 1 << Int(power)))) }
        // The form of numbers above Int64.max.
        guard try unsigned(at: start, 8) == 0 else { throw ArchiveFailure("has an integer of more than 64 bits") }
        return PropertyListValue(try unsigned(at: start + 8, 8))
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

    // MARK: - Bytes

    private mutating func add(_ objects: Int) throws(ArchiveFailure) {
        weight += objects
        guard weight <= limit else { throw ArchiveFailure("expands to more than \(limit) objects") }
    }

    /// Returns where the content of an object is: after its count, which is in the marker or in an integer that follows it.
    private mutating func range(_ low: UInt8, _ start: Int, width: Int) throws(ArchiveFailure) -> Range<Int> {
        var (count, begin) = (Int(low), start)
        if low == 15 {
            guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else { throw Self.damaged }
            let power = bytes[start] & 15
            guard let long = try integer(at: start + 1, power: power).integer.flatMap({ Int(exactly: $0) }), long >= 0
            else { throw Self.damaged }
            (count, begin) = (long, start + 1 + 1 << Int(power))
        }
        guard begin <= table, count <= (table - begin) / width else { throw Self.damaged }
        size += count * width
        guard size <= bytes.count else { throw Self.damaged }
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
