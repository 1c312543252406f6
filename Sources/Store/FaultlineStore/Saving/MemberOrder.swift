/// Assigns the order numbers of an ordered relationship's members.
///
/// The numbers are spaced, so inserting an object between two others changes one row instead of all. Core Data's
/// spacing is 2,048.
struct MemberOrder {
    static let spacing: Int64 = 2048

    /// Returns the numbers to change.
    ///
    /// - Parameters:
    ///   - keys: The members in their new order.
    ///   - known: Their current numbers.
    static func changes(_ keys: [Int64], known: [Int64: Int64]) -> [(key: Int64, number: Int64)] {
        let numbers = keys.map { known[$0] }
        let kept = longestRise(numbers)
        var changes: [(Int64, Int64)] = []
        var position = 0
        var low: Int64 = 0
        for next in kept + [keys.count] {
            let count = Int64(next - position)
            if count > 0 {
                guard let step = step(low, next < keys.count ? numbers[next]! : nil, count) else {
                    return all(keys, known)
                }
                for index in position..<next { changes.append((keys[index], low + step * Int64(index - position + 1))) }
            }
            if next < keys.count { low = numbers[next]! }
            position = next + 1
        }
        return changes
    }

    /// The spacing that fits a number of members between two numbers; `nil` if they do not fit.
    private static func step(_ low: Int64, _ high: Int64?, _ count: Int64) -> Int64? {
        guard let high else {
            // Stay within 32 bits, because Core Data may not read more from the column.
            return low <= Int64(Int32.max) - spacing * count ? spacing : nil
        }
        let step = (high - low) / (count + 1)
        return step > 0 ? step : nil
    }

    private static func all(_ keys: [Int64], _ known: [Int64: Int64]) -> [(key: Int64, number: Int64)] {
        let spacing = max(1, min(Self.spacing, Int64(Int32.max) / Int64(keys.count + 1)))
        return keys.enumerated().map { ($1, Int64($0 + 1) * spacing) }.filter { known[$0.0] != $0.1 }
    }

    /// The indexes of a longest increasing subsequence, whose numbers can stay; found by patience sorting.
    ///
    /// - Complexity: O(n log n).
    private static func longestRise(_ numbers: [Int64?]) -> [Int] {
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (position, number) in numbers.enumerated() {
            // Skip missing and invalid numbers.
            guard let number, number > 0, number <= Int64(Int32.max) else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]]! < number { low = middle + 1 } else { high = middle }
            }
            before[position] = low > 0 ? ends[low - 1] : -1
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var rise: [Int] = []
        var position = ends.last ?? -1
        while position >= 0 {
            rise.append(position)
            position = before[position]
        }
        return rise.reversed()
    }
}
