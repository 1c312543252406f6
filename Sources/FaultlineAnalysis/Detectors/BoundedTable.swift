/// A dictionary of a fixed capacity that gives back what it has no more room for.
///
/// What was used since it last came to the front of the queue gets a second round, so that a fetch whose objects stay
/// in use outlives thousands of later ones. Values are changed and read in place: most are too large to copy for every
/// event.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private enum Mark: Sendable {
        case free
        case kept
        /// Used since it last came to the front of the queue.
        case used
    }

    let capacity: Int
    /// Where the value of a key is.
    private var places: [Key: Int] = [:]
    /// By place.
    ///
    /// A value that was removed stays until its place is taken again.
    private var slots: ContiguousArray<Value> = []
    private var marks: ContiguousArray<Mark> = []
    /// Places without a value.
    private var free: [Int] = []
    private var queue: [Key] = []
    private var front = 0

    init(capacity: Int) {
        precondition(capacity > 0, "A bounded table needs room for one value.")
        self.capacity = capacity
    }

    var count: Int { places.count }

    func contains(_ key: Key) -> Bool { places[key] != nil }

    /// The value without counting as a use.
    func peek(_ key: Key) -> Value? { places[key].map { slots[$0] } }

    /// Looks at the value in place without counting as a use; `nil` if there is none.
    @inline(__always)
    func read<Result>(_ key: Key, _ body: (borrowing Value) -> Result) -> Result? {
        guard let place = places[key] else { return nil }
        return body(slots[place])
    }

    /// Changes the value in place, which counts as a use unless said otherwise; `nil` if there is none.
    mutating func update<Result>(_ key: Key, isUse: Bool = true, _ change: (inout Value) -> Result) -> Result? {
        guard let place = places[key] else { return nil }
        if isUse { marks[place] = .used }
        return change(&slots[place])
    }

    /// Adds a value under a key that has none, and returns what had to make room for it.
    ///
    /// - Complexity: O(1) amortised.
    mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        let evicted = count >= capacity ? evict() : nil
        let known = places[key]
        if known == nil { queue.append(key) }
        if let place = known ?? free.popLast() {
            (slots[place], marks[place]) = (value, .kept)
            places[key] = place
        } else {
            places[key] = slots.count
            slots.append(value)
            marks.append(.kept)
        }
        if queue.count - front > 4 * capacity { forgetRemoved() }
        return evicted
    }

    /// Takes a value out.
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        free.append(place)
        marks[place] = .free
        return slots[place]
    }

    /// Every value, in no particular order.
    var values: [Value] { slots.indices.filter { marks[$0] != .free }.map { slots[$0] } }

    /// Takes everything out, in the order in which it came.
    mutating func drain() -> [(key: Key, value: Value)] {
        defer { self = BoundedTable(capacity: capacity) }
        return queue[front...].compactMap { key in remove(key).map { (key, $0) } }
    }

    /// Shortens the queue to the keys that have values: those that were removed leave their keys behind.
    private mutating func forgetRemoved() {
        var seen: Set<Key> = []
        queue = queue[front...].filter { places[$0] != nil && seen.insert($0).inserted }
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
            guard let place = places[key] else { continue }
            if marks[place] == .used {
                marks[place] = .kept
                queue.append(key)
            } else {
                return remove(key).map { (key, $0) }
            }
        }
        return nil
    }
}
