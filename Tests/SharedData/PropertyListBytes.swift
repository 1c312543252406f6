package import Foundation

/// Hostile property lists in the binary form.
package enum PropertyListBytes {
    /// Returns a property list whose objects have these bytes, with references of two bytes.
    ///
    /// - Parameters:
    ///   - count: The number of objects that the trailer claims.
    ///   - table: Where the trailer claims that the offsets are.
    package static func list(_ objects: [[UInt8]], count: Int? = nil, table: Int? = nil) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += number(bytes.count, size: 4)
            bytes += object
        }
        let trailer =
            [0, 0, 0, 0, 0, 0, 4, 2] + number(count ?? objects.count) + number(0) + number(table ?? bytes.count)
        return Data(bytes + offsets + trailer)
    }

    /// Returns the bytes of an array with up to 14 members, which are numbers of objects.
    package static func array(_ members: Int...) -> [UInt8] {
        [0xa0 | UInt8(members.count)] + members.flatMap { number($0, size: 2) }
    }

    /// Arrays that each contain the next one twice: a short list of 2⁶⁰ members.
    package static func doubling(levels: Int = 60) -> Data {
        list((0..<levels).map { array($0 + 1, $0 + 1) } + [[0x09]])
    }

    /// Arrays that each contain the next one.
    package static func nested(levels: Int) -> Data {
        list((0..<levels).map { array($0 + 1) } + [[0x09]])
    }

    /// An array of lists that are each nested in so many levels, and contain the one before it in the innermost.
    package static func chained(count: Int, levels: Int) -> Data {
        let first = 2
        let top = [0xaf, 0x11] + number(count, size: 2) + (0..<count).flatMap { number(first + $0 * levels, size: 2) }
        let lists = (0..<count).flatMap { list in
            (1...levels).map { level in
                let next = first + list * levels + level
                return array(level < levels ? next : list == 0 ? 1 : first + (list - 1) * levels)
            }
        }
        return Self.list([top, [0x09]] + lists)
    }

    private static func number(_ value: Int, size: Int = 8) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
