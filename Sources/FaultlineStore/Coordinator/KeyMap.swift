/// A hash table from primary keys to addresses: open addressing, linear probing, no tombstones.
///
/// Not safe by itself: used under a lock.
///
/// - Complexity: O(1) on average for every operation; 16 bytes an entry at a load of at most ⅔.
struct KeyMap: ~Copyable {
    private struct Entry {
        var key: Int64
        var address: UnsafeMutableRawPointer?
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    private(set) var count = 0

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

    /// Fibonacci hashing: consecutive keys, the usual case, are spread evenly.
    @inline(__always)
    private func home(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9e37_79b9_7f4a_7c15) >> 20) & (capacity - 1)
    }

    @inline(__always)
    func address(_ key: Int64) -> UnsafeMutableRawPointer? {
        var place = home(key)
        while let address = entries[place].address {
            if entries[place].key == key { return address }
            place = (place + 1) & (capacity - 1)
        }
        return nil
    }

    /// Sets the address for a key and returns the one that it had.
    @inline(__always)
    @discardableResult
    mutating func insert(_ key: Int64, _ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        insert(key, address) { _ in true }
    }

    /// Sets the address for a key, unless it has one that is to stay.
    ///
    /// - Parameter replaces: whether the address takes the place of the one that is there.
    /// - Returns: the address that was there.
    @inline(__always)
    mutating func insert(
        _ key: Int64, _ address: UnsafeMutableRawPointer, where replaces: (UnsafeMutableRawPointer) -> Bool
    ) -> UnsafeMutableRawPointer? {
        var place = home(key)
        while let old = entries[place].address {
            if entries[place].key == key {
                if replaces(old) { entries[place].address = address }
                return old
            }
            place = (place + 1) & (capacity - 1)
        }
        entries[place] = Entry(key: key, address: address)
        count += 1
        if count * 3 > capacity * 2 { grow(to: capacity * 2) }
        return nil
    }

    /// Makes room for so many more keys at once.
    mutating func reserve(_ more: Int) {
        var wanted = capacity
        while (count + more) * 3 > wanted * 2 { wanted *= 2 }
        if wanted > capacity { grow(to: wanted) }
    }

    /// Takes a key out, if it is there with that address (or whatever its address, if none is given).
    mutating func remove(_ key: Int64, address wanted: UnsafeMutableRawPointer? = nil) {
        var place = home(key)
        while let address = entries[place].address {
            if entries[place].key == key {
                if let wanted, wanted != address { return }
                close(place)
                count -= 1
                return
            }
            place = (place + 1) & (capacity - 1)
        }
    }

    /// Moves the entries behind a hole forward, so that look-ups need no tombstones.
    private mutating func close(_ hole: Int) {
        var hole = hole
        var place = (hole + 1) & (capacity - 1)
        while entries[place].address != nil {
            let distance = (place &- home(entries[place].key)) & (capacity - 1)
            if distance >= (place &- hole) & (capacity - 1) {
                entries[hole] = entries[place]
                hole = place
            }
            place = (place + 1) & (capacity - 1)
        }
        entries[hole].address = nil
    }

    private mutating func grow(to wanted: Int) {
        let (old, oldCapacity) = (entries, capacity)
        capacity = wanted
        entries = Self.allocate(capacity)
        for place in 0..<oldCapacity {
            guard old[place].address != nil else { continue }
            var new = home(old[place].key)
            while entries[new].address != nil { new = (new + 1) & (capacity - 1) }
            entries[new] = old[place]
        }
        old.deallocate()
    }

    func forEach(_ body: (Int64, UnsafeMutableRawPointer) -> Void) {
        for place in 0..<capacity {
            if let address = entries[place].address { body(entries[place].key, address) }
        }
    }
}
