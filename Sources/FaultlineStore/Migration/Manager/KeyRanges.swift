/// A set of keys, as ranges.
///
/// Keys are mostly added in ascending order, with few gaps, so a million of them take little memory.
struct KeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    var rangeCount: Int { ranges.count }

    mutating func insert(_ key: Int64) {
        guard let last = ranges.last, key <= last.upperBound else {
            if let last = ranges.last, last.upperBound + 1 == key {
                ranges[ranges.count - 1] = last.lowerBound...key
            } else {
                ranges.append(key...key)
            }
            return
        }
        let position = position(endingAtOrAfter: key)
        if ranges[position].contains(key) { return }
        let joinsNext = ranges[position].lowerBound == key + 1
        let joinsPrevious = position > 0 && ranges[position - 1].upperBound == key - 1
        switch (joinsPrevious, joinsNext) {
        case (true, true):
            ranges[position - 1] = ranges[position - 1].lowerBound...ranges[position].upperBound
            ranges.remove(at: position)
        case (true, false): ranges[position - 1] = ranges[position - 1].lowerBound...key
        case (false, true): ranges[position] = key...ranges[position].upperBound
        case (false, false): ranges.insert(key...key, at: position)
        }
    }

    func contains(_ key: Int64) -> Bool {
        let position = position(endingAtOrAfter: key)
        return position < ranges.count && ranges[position].lowerBound <= key
    }

    /// The first keys after one, in ascending order.
    func keys(after key: Int64, limit: Int) -> [Int64] {
        var found: [Int64] = []
        for range in ranges[position(endingAtOrAfter: key)...] {
            guard range.upperBound > key else { continue }
            found += range.clamped(to: (key + 1)...range.upperBound).prefix(limit - found.count)
            if found.count == limit { break }
        }
        return found
    }

    /// The position of the first range that does not end before a key.
    private func position(endingAtOrAfter key: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
