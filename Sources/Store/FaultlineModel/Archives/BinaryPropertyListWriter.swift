package import Foundation

extension PropertyListValue {
    /// The list in its binary form.
    package var binary: Data { BinaryPropertyListWriter.data(of: self) }
}

/// Writes property lists in the binary form that ``BinaryPropertyList`` reads.
///
/// Foundation writes them too, but not in a program that has Swift's libraries inside: there, `PropertyListSerialization` of
/// Swift 6.3 refuses every list.
private struct BinaryPropertyListWriter {
    /// The objects, each with the numbers of those that it contains; the outermost is the first.
    private var objects: [(value: PropertyListValue, members: [Int])] = []
    /// The numbers of texts, which are written once.
    private var texts: [String: Int] = [:]
    private var bytes = Array("bplist00".utf8)

    static func data(of value: PropertyListValue) -> Data {
        var writer = Self()
        _ = writer.add(value)
        return writer.data()
    }

    // MARK: - Objects

    private mutating func add(_ value: PropertyListValue) -> Int {
        if let text = value.string, let known = texts[text] { return known }
        let number = objects.count
        objects.append((value, []))
        switch value {
        case .string(let text): texts[text] = number
        case .array(let values): objects[number].members = values.map { add($0) }
        case .dictionary(let values):
            let keys = values.keys.sorted()
            objects[number].members = keys.map { add(.string($0)) } + keys.compactMap { values[$0] }.map { add($0) }
        case .null, .boolean, .integer, .unsigned, .real, .date, .data, .reference: break
        }
        return number
    }

    private mutating func data() -> Data {
        let referenceSize = Self.size(of: UInt64(objects.count))
        var offsets: [Int] = []
        for (value, members) in objects {
            offsets.append(bytes.count)
            write(value)
            for member in members { write(UInt64(member), referenceSize) }
        }
        let table = bytes.count
        let offsetSize = Self.size(of: UInt64(table))
        for offset in offsets { write(UInt64(offset), offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, 0, table] { write(UInt64(number), 8) }
        return Data(bytes)
    }

    /// Writes a value, but not the references to its members.
    private mutating func write(_ value: PropertyListValue) {
        switch value {
        case .null: bytes.append(0)
        case .boolean(let isTrue): bytes.append(isTrue ? 9 : 8)
        // Only integers of eight bytes have a sign.
        case .integer(let number):
            writeInteger(UInt64(bitPattern: number), number < 0 ? 8 : Self.size(of: UInt64(number)))
        case .unsigned(let number):
            bytes.append(0x14)
            write(0, 8)
            write(number, 8)
        case .real(let number):
            bytes.append(0x23)
            write(number.bitPattern, 8)
        case .date(let date):
            bytes.append(0x33)
            write(date.timeIntervalSinceReferenceDate.bitPattern, 8)
        case .data(let data):
            writeMarker(0x40, data.count)
            bytes += data
        case .string(let text): write(text)
        case .reference(let number):
            let size = Self.size(of: UInt64(number))
            bytes.append(0x80 | UInt8(size - 1))
            write(UInt64(number), size)
        case .array(let values): writeMarker(0xa0, values.count)
        case .dictionary(let values): writeMarker(0xd0, values.count)
        }
    }

    private mutating func write(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            writeMarker(0x50, text.utf8.count)
            bytes += text.utf8
        } else {
            writeMarker(0x60, text.utf16.count)
            for unit in text.utf16 { write(UInt64(unit), 2) }
        }
    }

    // MARK: - Bytes

    /// Writes the type of an object, and the number of its bytes or members.
    private mutating func writeMarker(_ type: UInt8, _ count: Int) {
        bytes.append(type | UInt8(min(count, 15)))
        if count >= 15 { writeInteger(UInt64(count), Self.size(of: UInt64(count))) }
    }

    private mutating func writeInteger(_ number: UInt64, _ size: Int) {
        bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
        write(number, size)
    }

    /// Writes the low bytes of a number, the highest of them first.
    private mutating func write(_ number: UInt64, _ size: Int) {
        for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }

    /// The number of bytes that an integer takes: 1, 2, 4 or 8.
    private static func size(of number: UInt64) -> Int {
        [1, 2, 4].first { number >> UInt64(8 * $0) == 0 } ?? 8
    }
}
