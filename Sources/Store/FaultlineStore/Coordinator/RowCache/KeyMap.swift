/// A hash table from primary keys to addresses, with open addressing and linear probing, without tombstones.
///
/// Consecutive keys, the usual case, are adjacent, so iterating over them reads memory in order. If keys collide too
/// often this way, a multiplication spreads them instead.
///
/// Not thread-safe; used under a lock.
///
/// - Complexity: O(1) on average for every operation; 16 bytes per entry at a load factor of at most ⅔.
struct KeyMap: ~Copyable {
    private struct Entry {
        var key: Int64
        var address: UnsafeMutableRawPointer?
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    private(set) var count = 0
    /// The maximum distance of an entry from its home position.
    private var reach = 0
    private var isSpread = false

    /// The maximum distance before keys are spread.
    private static let largestReach = 32

    init() {
        capacity = 16
        entries = Self.allocate(16)
    }

    deinit {
        entries.deallocate()
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        entries.initialize(repeating: Entry(key: 0, address: nil), count: capacity)
        return entries
    }

    @inline(__always)
    private func home(_ key: Int64) -> Int {
        guard isSpread else { return Int(truncatingIfNeeded: key) & (capacity - 1) }
        return Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9e37_79b9_7f4a_7c15) >> 20) & (capacity - 1)
    }

    /// The position of a key; `nil` if it is missing.
    @inline(__always)
    private func position(_ key: Int64) -> Int? {
        let home = home(key)
        var distance = 0
        while distance <= reach {
            let position = (home &+ distance) & (capacity - 1)
            guard entries[position].address != nil else { return nil }
            if entries[position].key == key { return position }
            distance += 1
        }
        return nil
    }

    @inline(__always)
    func address(_ key: Int64) -> UnsafeMutableRawPointer? {
        position(key).flatMap { entries[$0].address }
    }

    /// Sets the address for a key, and returns its previous address.
    @inline(__always)
    @discardableResult
    mutating func insert(_ key: Int64, _ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        insert(key, address) { _ in true }
    }

    /// Sets the address for a key, unless its existing address must stay.
    ///
    /// - Parameter replaces: Whether to replace the existing address.
    /// - Returns: The existing address.
    @inline(__always)
    mutating func insert(
        _ key: Int64, _ address: UnsafeMutableRawPointer, where replaces: (UnsafeMutableRawPointer) -> Bool
    ) -> UnsafeMutableRawPointer? {
        if let position = position(key), let old = entries[position].address {
            if replaces(old) { entries[position].address = address }
            return old
        }
        if (count + 1) * 3 > capacity * 2 { rebuild(capacity * 2) }
        add(Entry(key: key, address: address))
        count += 1
        return nil
    }

    /// Adds a key that is missing.
    @inline(__always)
    private mutating func add(_ entry: Entry) {
        let home = home(entry.key)
        if entries[home].address == nil { entries[home] = entry } else { addBehind(home, entry) }
    }

    @inline(never)
    private mutating func addBehind(_ home: Int, _ entry: Entry) {
        var distance = 1
        while entries[(home &+ distance) & (capacity - 1)].address != nil {
            distance += 1
            if distance > Self.largestReach, !isSpread {
                isSpread = true
                rebuild(capacity)
                return add(entry)
            }
        }
        entries[(home &+ distance) & (capacity - 1)] = entry
        reach = max(reach, distance)
    }

    /// Reserves capacity for more keys.
    mutating func reserve(_ more: Int) {
        var wanted = capacity
        while (count + more) * 3 > wanted * 2 { wanted *= 2 }
        if wanted > capacity { rebuild(wanted) }
    }

    /// Removes a key, if its address matches; without an address, always.
    @inline(__always)
    mutating func remove(_ key: Int64, address wanted: UnsafeMutableRawPointer? = nil) {
        guard let position = position(key) else { return }
        if let wanted, wanted != entries[position].address { return }
        count -= 1
        if reach == 0 {
            entries[position].address = nil
        } else {
            close(position)
            if count == 0 { reach = 0 }
        }
    }

    /// Moves the entries after a hole forward, so lookups need no tombstones.
    @inline(never)
    private mutating func close(_ hole: Int) {
        var hole = hole
        var position = (hole + 1) & (capacity - 1)
        // An entry further behind the hole than `reach` cannot move into it.
        while entries[position].address != nil, (position &- hole) & (capacity - 1) <= reach {
            let distance = (position &- home(entries[position].key)) & (capacity - 1)
            if distance >= (position &- hole) & (capacity - 1) {
                entries[hole] = entries[position]
                hole = position
            }
            position = (position + 1) & (capacity - 1)
        }
        entries[hole].address = nil
    }

    @inline(never)
    private mutating func rebuild(_ wanted: Int) {
        let (old, oldCapacity) = (entries, capacity)
        capacity = wanted
        reach = 0
        entries = Self.allocate(capacity)
        for position in 0..<oldCapacity where old[position].address != nil { add(old[position]) }
        old.deallocate()
    }

    func forEach(_ body: (Int64, UnsafeMutableRawPointer) -> Void) {
        for position in 0..<capacity {
            if let address = entries[position].address { body(entries[position].key, address) }
        }
    }
}
