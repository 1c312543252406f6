import Synchronization

/// How often the members of each to-many relationship were changed by saves, by relationship number.
///
/// Changed by whoever writes, one at a time; looked at by all who read.
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
