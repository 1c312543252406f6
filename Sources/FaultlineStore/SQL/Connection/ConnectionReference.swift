import CStore
import Synchronization

/// A connection as it is known to work that is put off and does not keep it open.
///
/// A weak reference would do the same, and give the connection a side table, through which every later reference to it is
/// counted at several times the cost (stdlib/public/SwiftShims/RefCount.h).
final class ConnectionReference: Sendable {
    private let address = Mutex<UInt>(0)

    func set(_ connection: StoreConnection) {
        address.withLock { $0 = UInt(bitPattern: Unmanaged.passUnretained(connection).toOpaque()) }
    }

    /// To be called when the connection goes away, before it is gone.
    func clear() {
        address.withLock { $0 = 0 }
    }

    /// The connection, unless it is on its way out.
    func connection() -> StoreConnection? {
        let retained = address.withLock { address in
            UnsafeMutableRawPointer(bitPattern: address).flatMap { swift_tryRetain($0) }.map { UInt(bitPattern: $0) }
        }
        return retained.flatMap { UnsafeRawPointer(bitPattern: $0) }
            .map { Unmanaged<StoreConnection>.fromOpaque($0).takeRetainedValue() }
    }
}
