import CStore
import FaultlineModel
import Foundation

/// The objects of a context by key: one object per row.
///
/// The map does not retain the objects. They remove themselves when they are deallocated, on any thread, so a lookup
/// retains only an object that is not being deallocated.
final class IdentityMap: @unchecked Sendable {
    // `lock` guards `maps`, which a lookup uses only under the lock. It is a spin lock: it is held for one table lookup
    // and rarely contended. A mutex takes twice as long, three times for every object.
    private let lock: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked)
    private var maps: UnsafeMutableBufferPointer<KeyMap>

    /// - Parameter maps: The number of tables, one for each entity tree of a store.
    init(maps count: Int) {
        lock = UnsafeMutablePointer.allocate(capacity: 1)
        lock.initialize(to: 0)
        maps = UnsafeMutableBufferPointer.allocate(capacity: count)
        for position in 0..<count { (maps.baseAddress! + position).initialize(to: KeyMap()) }
    }

    /// Adds tables for more entity trees.
    func grow(to count: Int) {
        cstore_lock(lock)
        defer { cstore_unlock(lock) }
        guard count > maps.count else { return }
        let old = maps
        maps = UnsafeMutableBufferPointer.allocate(capacity: count)
        if let start = old.baseAddress { maps.baseAddress!.moveInitialize(from: start, count: old.count) }
        for position in old.count..<count { (maps.baseAddress! + position).initialize(to: KeyMap()) }
        old.deallocate()
    }

    deinit {
        maps.deinitialize()
        maps.deallocate()
        lock.deallocate()
    }

    @inline(__always)
    private func withLock<Result>(_ body: (UnsafeMutableBufferPointer<KeyMap>) -> Result) -> Result {
        cstore_lock(lock)
        defer { cstore_unlock(lock) }
        return body(maps)
    }

    @inline(__always)
    func object(map: Int, key: Int64) -> ManagedObject? {
        let found = withLock { maps in maps[map].address(key).flatMap { swift_tryRetain($0) } }
        return found.map { Unmanaged<ManagedObject>.fromOpaque($0).takeRetainedValue() }
    }

    @inline(__always)
    func insert(_ object: ManagedObject) {
        let address = Unmanaged.passUnretained(object).toOpaque()
        let (map, key) = (object.runtime.map, object.key)
        withLock { maps in _ = maps[map].insert(key, address) }
    }

    /// Removes an object, unless another object now has its key.
    @inline(__always)
    func remove(_ object: ManagedObject) {
        let address = Unmanaged.passUnretained(object).toOpaque()
        let (map, key) = (object.runtime.map, object.key)
        withLock { maps in maps[map].remove(key, address: address) }
    }

    /// Moves new objects to the keys that were reserved for them.
    ///
    /// Removes all old keys before it inserts the first new one, so no object overwrites another.
    func updateKeys(of objects: [ManagedObject]) {
        withLock { maps in
            objects.forEachHeld { object in
                maps[object.runtime.map].remove(object.key, address: Unmanaged.passUnretained(object).toOpaque())
            }
            objects.forEachHeld { object in
                object.key = object.pending!.newKey
                maps[object.runtime.map].insert(object.key, Unmanaged.passUnretained(object).toOpaque())
            }
        }
    }

    /// Reserves space for additional objects.
    func reserve(map: Int, _ more: Int) {
        withLock { maps in maps[map].reserve(more) }
    }

    /// The live objects.
    func objects() -> [ManagedObject] {
        var found: [UnsafeMutableRawPointer] = []
        withLock { maps in
            for map in maps.indices {
                maps[map].forEach { _, address in
                    if let retained = swift_tryRetain(address) { found.append(retained) }
                }
            }
        }
        return found.map { Unmanaged<ManagedObject>.fromOpaque($0).takeRetainedValue() }
    }
}

/// Identifies an object within a context by its place in the identity map.
///
/// A new object's key changes when it gets its permanent ID.
struct ObjectKey: Hashable {
    var map: Int
    var key: Int64
}

extension ManagedObject {
    final var objectKey: ObjectKey { ObjectKey(map: runtime.map, key: key) }
}
