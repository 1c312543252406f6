import Synchronization

/// The number of saves that changed each to-many relationship, by relationship number.
///
/// Changed by one writer at a time; read by all readers.
final class RelationshipGenerations: Sendable {
    private let numbers: Mutex<[UInt64]>
    let indices: Range<Int>

    init(count: Int) {
        numbers = Mutex(Array(repeating: 0, count: count))
        indices = 0..<count
    }

    subscript(relationship: Int) -> UInt64 {
        get { numbers.withLock { $0[relationship] } }
        set { numbers.withLock { $0[relationship] = newValue } }
    }
}
