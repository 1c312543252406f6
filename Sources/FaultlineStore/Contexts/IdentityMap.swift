import CStore
import FaultlineModel
import Foundation
import Synchronization

/// The objects of a context by their keys: one object for one row.
///
/// It does not keep objects alive. They take themselves out when they go, from whatever thread that is; so a look-up
/// retains only what is not on its way out.
final class IdentityMap: Sendable {
    private struct Maps: ~Copyable {
        var byRoot: UnsafeMutableBufferPointer<KeyMap>

        deinit {
            byRoot.deinitialize()
            byRoot.deallocate()
        }
    }

    private let maps: Mutex<Maps>

    init(roots: Int) {
        let byRoot = UnsafeMutableBufferPointer<KeyMap>.allocate(capacity: roots)
        for place in 0..<roots { (byRoot.baseAddress! + place).initialize(to: KeyMap()) }
        maps = Mutex(Maps(byRoot: byRoot))
    }

    func object(root: Int, key: Int64) -> ManagedObject? {
        let found = maps.withLock { maps -> UInt in
            guard let address = maps.byRoot[root].address(key), let retained = swift_tryRetain(address) else {
                return 0
            }
            return UInt(bitPattern: retained)
        }
        guard let address = UnsafeRawPointer(bitPattern: found) else { return nil }
        return Unmanaged<ManagedObject>.fromOpaque(address).takeRetainedValue()
    }

    func insert(_ object: ManagedObject) {
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let (root, key) = (object.runtime.schema.root, object.key)
        maps.withLock { maps in
            _ = maps.byRoot[root].insert(key, UnsafeMutableRawPointer(bitPattern: address)!)
        }
    }

    /// Takes an object out, unless another has its key by now.
    func remove(_ object: ManagedObject) {
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        let (root, key) = (object.runtime.schema.root, object.key)
        maps.withLock { maps in
            maps.byRoot[root].remove(key, address: UnsafeMutableRawPointer(bitPattern: address))
        }
    }

    /// The objects that are alive.
    func objects() -> [ManagedObject] {
        let found = maps.withLock { maps in
            var found: [UInt] = []
            for root in maps.byRoot.indices {
                maps.byRoot[root].forEach { _, address in
                    if let retained = swift_tryRetain(address) { found.append(UInt(bitPattern: retained)) }
                }
            }
            return found
        }
        return found.map { Unmanaged<ManagedObject>.fromOpaque(UnsafeRawPointer(bitPattern: $0)!).takeRetainedValue() }
    }
}
