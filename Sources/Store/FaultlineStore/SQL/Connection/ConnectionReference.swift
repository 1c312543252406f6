import CStore
import Synchronization

/// A reference to a connection for deferred work, which does not keep the connection open.
///
/// A weak reference would add a side table to the connection, which makes every later reference count several times
/// more expensive (stdlib/public/SwiftShims/RefCount.h).
final class ConnectionReference: Sendable {
    private let address = Mutex<UInt>(0)

    func set(_ connection: StoreConnection) {
        address.withLock { $0 = UInt(bitPattern: Unmanaged.passUnretained(connection).toOpaque()) }
    }

    /// Called by the connection's `deinit`.
    func clear() {
        address.withLock { $0 = 0 }
    }

    /// The connection, unless it is being deallocated.
    func connection() -> StoreConnection? {
        let retained = address.withLock { address in
            UnsafeMutableRawPointer(bitPattern: address).flatMap { swift_tryRetain($0) }.map { UInt(bitPattern: $0) }
        }
        return retained.flatMap { UnsafeRawPointer(bitPattern: $0) }
            .map { Unmanaged<StoreConnection>.fromOpaque($0).takeRetainedValue() }
    }
}
