/// A date and a time of day in a log.
struct LogTime: Equatable {
    /// Nanoseconds since the beginning of 2000, or since midnight if there is no date.
    var nanoseconds: UInt64
    var hasDate: Bool
    /// Whether it has a fraction of a second.
    var isExact: Bool

    static let day: UInt64 = 86_400_000_000_000

    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A month's number by its English abbreviation.
    static func month(_ name: some Collection<UInt8>) -> UInt64? {
        guard name.count == 3 else { return nil }
        return months.firstIndex { month in
            name.elementsEqual(UnsafeBufferPointer(start: month.utf8Start, count: month.utf8CodeUnitCount))
        }.map { UInt64($0 + 1) }
    }

    /// The number of days from the beginning of 2000 to a date of the years 2000 to 2199; `nil` for any other.
    static func days(_ year: UInt64, _ month: UInt64, _ day: UInt64) -> UInt64? {
        guard (2000...2199).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Counting years from March puts the leap day at the end.
        let position = (month + 9) % 12
        let year = year - (position > 9 ? 1 : 0)
        return year * 365 + year / 4 - year / 100 + year / 400 + (position * 306 + 5) / 10 + day - 1 - 730_425
    }

    /// Finds the first time of day, and the date before it, in the prefix of a message.
    ///
    ///     2026-11-24 20:19:17,123
    ///     2026-11-24T20:19:17.123456Z
    ///     24/Nov/2026 20:19:17
    init?(in bytes: UnsafeRawBufferPointer) {
        guard let colon = bytes.indices.first(where: { Self.isTime(bytes, around: $0) }) else { return nil }
        let number = { (start: Int, count: Int) in Self.number(bytes, start, count) }
        guard let hours = number(colon - 2, 2), let minutes = number(colon + 1, 2), let seconds = number(colon + 4, 2),
            hours < 24, minutes < 60, seconds < 61
        else { return nil }
        nanoseconds = (hours * 3600 + minutes * 60 + seconds) * 1_000_000_000
        var position = colon + 6
        isExact = position + 1 < bytes.count && ".,".utf8.contains(bytes[position]) && bytes[position + 1].isDigit
        var unit: UInt64 = 100_000_000
        position += 1
        while isExact, position < bytes.count, bytes[position].isDigit {
            nanoseconds += UInt64(bytes[position] - 0x30) * unit
            (unit, position) = (unit / 10, position + 1)
        }
        let days = Self.days(bytes, before: colon - 3)
        hasDate = days != nil
        nanoseconds += (days ?? 0) * Self.day
    }

    /// Whether the byte at an offset is the first colon of a time such as `20:19:17`.
    private static func isTime(_ bytes: UnsafeRawBufferPointer, around colon: Int) -> Bool {
        bytes[colon] == UInt8(ascii: ":") && colon >= 2 && colon + 5 < bytes.count && bytes[colon + 3] == bytes[colon]
            && [-2, -1, 1, 2, 4, 5].allSatisfy { bytes[colon + $0].isDigit }
            && (colon == 2 || !bytes[colon - 3].isDigit)
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> UInt64? {
        guard start >= 0, start + count <= bytes.count else { return nil }
        var value: UInt64 = 0
        for byte in bytes[start..<start + count] {
            guard byte.isDigit else { return nil }
            value = value * 10 + UInt64(byte - 0x30)
        }
        return value
    }

    /// Parses `2026-11-24` or `24/Nov/2026`, which ends at an offset, into days since the beginning of 2000.
    private static func days(_ bytes: UnsafeRawBufferPointer, before end: Int) -> UInt64? {
        let date: (year: UInt64?, month: UInt64?, day: UInt64?)
        if end >= 11, bytes[end - 5] == UInt8(ascii: "/"), bytes[end - 9] == UInt8(ascii: "/") {
            date = (number(bytes, end - 4, 4), month(bytes[end - 8..<end - 5]), number(bytes, end - 11, 2))
        } else if end >= 10, bytes[end - 3] == bytes[end - 6], "-/".utf8.contains(bytes[end - 3]) {
            date = (number(bytes, end - 10, 4), number(bytes, end - 5, 2), number(bytes, end - 2, 2))
        } else {
            return nil
        }
        guard let year = date.year, let month = date.month, let day = date.day else { return nil }
        return days(year, month, day)
    }
}
