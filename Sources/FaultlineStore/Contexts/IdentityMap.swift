import CStore
import FaultlineModel
import Foundation

/// The objects of a context by their keys: one object for one row.
///
/// It does not keep objects alive. They take themselves out when they go, from whatever thread that is; so a look-up
/// retains only what is not on its way out.
final class IdentityMap: @unchecked Sendable {
    // `lock` guards `maps`, which each look-up takes as it is under the lock. It spins: it is held for a look-up in a
    // table and mostly wanted by one thread alone, and a mutex takes twice as long, three times for every object.
    private let lock: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked)
    private var maps: UnsafeMutableBufferPointer<KeyMap>

    /// - Parameter maps: how many tables there are, one for each tree of entities of a store.
    init(maps count: Int) {
        lock = UnsafeMutablePointer.allocate(capacity: 1)
        lock.initialize(to: 0)
        maps = UnsafeMutableBufferPointer.allocate(capacity: count)
        for place in 0..<count { (maps.baseAddress! + place).initialize(to: KeyMap()) }
    }

    /// Makes room for more trees.
    func grow(to count: Int) {
        cstore_lock(lock)
        defer { cstore_unlock(lock) }
        guard count > maps.count else { return }
        let old = maps
        maps = UnsafeMutableBufferPointer.allocate(capacity: count)
        if let start = old.baseAddress { maps.baseAddress!.moveInitialize(from: start, count: old.count) }
        for place in old.count..<count { (maps.baseAddress! + place).initialize(to: KeyMap()) }
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

    /// Takes an object out, unless another has its key by now.
    @inline(__always)
    func remove(_ object: ManagedObject) {
        let address = Unmanaged.passUnretained(object).toOpaque()
        let (map, key) = (object.runtime.map, object.key)
        withLock { maps in maps[map].remove(key, address: address) }
    }

    /// Puts new objects under the keys that were reserved for them.
    ///
    /// All old keys go before the first new one comes, so that none stands in another's place.
    func takeNewKeys(of objects: [ManagedObject]) {
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

    /// Makes room for so many more objects at once.
    func reserve(map: Int, _ more: Int) {
        withLock { maps in maps[map].reserve(more) }
    }

    /// The objects that are alive.
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
