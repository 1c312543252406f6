/// A dictionary of a fixed capacity that gives back what it has no more room for.
///
/// What was used since it last came to the front of the queue gets a second round, so that a fetch whose objects stay
/// in use outlives thousands of later ones.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var value: Value
        var wasUsed: Bool
    }

    let capacity: Int
    private var slots: [Key: Slot] = [:]
    private var queue: [Key] = []
    private var front = 0

    init(capacity: Int) {
        precondition(capacity > 0, "A bounded table needs room for one value.")
        self.capacity = capacity
    }

    var count: Int { slots.count }

    func contains(_ key: Key) -> Bool { slots[key] != nil }

    /// The value without counting as a use.
    func peek(_ key: Key) -> Value? { slots[key]?.value }

    /// Looks at the value in place without counting as a use; `nil` if there is none.
    @inline(__always)
    func read<Result>(_ key: Key, _ body: (borrowing Value) -> Result) -> Result? {
        guard let index = slots.index(forKey: key) else { return nil }
        return body(slots.values[index].value)
    }

    /// Changes the value in place, which counts as a use unless said otherwise; `nil` if there is none.
    mutating func update<Result>(_ key: Key, isUse: Bool = true, _ change: (inout Value) -> Result) -> Result? {
        guard let index = slots.index(forKey: key) else { return nil }
        if isUse { slots.values[index].wasUsed = true }
        return change(&slots.values[index].value)
    }

    /// Adds a value under a key that has none, and returns what had to make room for it.
    ///
    /// - Complexity: O(1) amortised.
    mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        let evicted = slots.count >= capacity ? evict() : nil
        if slots.updateValue(Slot(value: value, wasUsed: false), forKey: key) == nil { queue.append(key) }
        if queue.count - front > 4 * capacity { forgetRemoved() }
        return evicted
    }

    /// Takes a value out.
    mutating func remove(_ key: Key) -> Value? { slots.removeValue(forKey: key)?.value }

    /// Every value, in no particular order.
    var values: [Value] { slots.values.map(\.value) }

    /// Takes everything out, in the order in which it came.
    mutating func drain() -> [(key: Key, value: Value)] {
        defer {
            slots = [:]
            queue = []
            front = 0
        }
        return queue[front...].compactMap { key in slots.removeValue(forKey: key).map { (key, $0.value) } }
    }

    /// Shortens the queue to the keys that have values: those that were removed leave their keys behind.
    private mutating func forgetRemoved() {
        var seen: Set<Key> = []
        queue = queue[front...].filter { slots[$0] != nil && seen.insert($0).inserted }
        front = 0
    }

    private mutating func evict() -> (key: Key, value: Value)? {
        while front < queue.count {
            let key = queue[front]
            front &+= 1
            if front > 4096, front * 2 > queue.count {
                queue.removeFirst(front)
                front = 0
            }
            guard let index = slots.index(forKey: key) else { continue }
            if slots.values[index].wasUsed {
                slots.values[index].wasUsed = false
                queue.append(key)
            } else {
                return (key, slots.remove(at: index).value.value)
            }
        }
        return nil
    }
}
