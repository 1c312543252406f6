// The standard library's sort is compiled anew for every type of element and every closure: 113 copies of it made up a tenth
// of the code that analyzes traces. These functions are compiled once. They sort numbers, and ask about the elements, so
// each comparison takes longer: they are for lists that are sorted once in a report, not once in an event.

extension Sequence {
    /// Returns the elements in ascending order of a key.
    ///
    /// - Parameter key: Called once for each element.
    package func ordered<Key: Comparable>(on key: (Element) -> Key) -> [Element] {
        let elements = Array(self)
        let keys = elements.map(key)
        return sortedPositions(elements.count) { keys[$0] < keys[$1] }.map { elements[$0] }
    }

    /// Returns the elements in an order.
    ///
    /// - Parameter precedes: Whether the first element comes before the second.
    package func ordered(by precedes: (Element, Element) -> Bool) -> [Element] {
        let elements = Array(self)
        return sortedPositions(elements.count) { precedes(elements[$0], elements[$1]) }.map { elements[$0] }
    }
}

/// The positions of elements in their order.
private func sortedPositions(_ count: Int, by precedes: (Int, Int) -> Bool) -> [Int] {
    (0..<count).sorted(by: precedes)
}
