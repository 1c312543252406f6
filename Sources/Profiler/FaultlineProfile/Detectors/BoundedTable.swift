/// A dictionary of fixed capacity that returns the values it evicts.
///
/// An entry that was used since it last reached the front of the queue is queued again. A fetch whose objects stay in
/// use thus outlives thousands of later fetches. Values are changed and read in place, because most are too large to
/// copy for every event.
@usableFromInline
package struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    enum Mark: Sendable {
        case free
        case kept
        /// Used since it last came to the front of the queue.
        case used
    }

    @usableFromInline let capacity: Int
    /// The index of each key's value in ``slots``.
    @usableFromInline var places: [Key: Int] = [:]
    /// The values, by index.
    ///
    /// A removed value stays until its slot is reused.
    @usableFromInline var slots: ContiguousArray<Value> = []
    @usableFromInline var marks: ContiguousArray<Mark> = []
    /// The indices of free slots.
    @usableFromInline var free: [Int] = []
    @usableFromInline var queue: [Key] = []
    @usableFromInline var front = 0

    @inlinable
    package init(capacity: Int) {
        precondition(capacity > 0, "A bounded table needs room for one value.")
        self.capacity = capacity
    }

    @inlinable var count: Int { places.count }

    @inlinable
    package func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Returns a value.
    ///
    /// This does not count as a use.
    @inlinable
    package func peek(_ key: Key) -> Value? { places[key].map { slots[$0] } }

    /// Reads a value in place, which does not count as a use.
    ///
    /// Returns `nil` if the key has none.
    @inlinable
    @inline(__always)
    package func read<Result>(_ key: Key, _ body: (borrowing Value) -> Result) -> Result? {
        guard let position = places[key] else { return nil }
        return body(slots[position])
    }

    /// Changes a value in place, which counts as a use by default.
    ///
    /// Returns `nil` if the key has none.
    @inlinable
    package mutating func update<Result>(_ key: Key, isUse: Bool = true, _ change: (inout Value) -> Result) -> Result? {
        guard let position = places[key] else { return nil }
        if isUse { marks[position] = .used }
        return change(&slots[position])
    }

    /// Adds a value for a key that has none, and returns the entry it evicts.
    ///
    /// - Complexity: O(1), amortised.
    @inlinable
    package mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        let evicted = count >= capacity ? evict() : nil
        let known = places[key]
        if known == nil { queue.append(key) }
        if let position = known ?? free.popLast() {
            (slots[position], marks[position]) = (value, .kept)
            places[key] = position
        } else {
            places[key] = slots.count
            slots.append(value)
            marks.append(.kept)
        }
        if queue.count - front > 4 * capacity { forgetRemoved() }
        return evicted
    }

    /// Removes and returns a value.
    @inlinable
    package mutating func remove(_ key: Key) -> Value? {
        guard let position = places.removeValue(forKey: key) else { return nil }
        free.append(position)
        marks[position] = .free
        return slots[position]
    }

    /// All values, in no particular order.
    var values: [Value] { slots.indices.filter { marks[$0] != .free }.map { slots[$0] } }

    /// Removes all entries and returns them in insertion order.
    @inlinable
    package mutating func drain() -> [(key: Key, value: Value)] {
        defer { self = BoundedTable(capacity: capacity) }
        return queue[front...].compactMap { key in remove(key).map { (key, $0) } }
    }

    /// Removes stale keys, which removed values leave behind, from the queue.
    @inlinable
    mutating func forgetRemoved() {
        var seen: Set<Key> = []
        queue = queue[front...].filter { places[$0] != nil && seen.insert($0).inserted }
        front = 0
    }

    @inlinable
    mutating func evict() -> (key: Key, value: Value)? {
        while front < queue.count {
            let key = queue[front]
            front &+= 1
            if front > 4096, front * 2 > queue.count {
                queue.removeFirst(front)
                front = 0
            }
            guard let position = places[key] else { continue }
            if marks[position] == .used {
                marks[position] = .kept
                queue.append(key)
            } else {
                return remove(key).map { (key, $0) }
            }
        }
        return nil
    }
}
