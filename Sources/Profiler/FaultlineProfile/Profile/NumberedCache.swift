internal import FaultlineTrace

/// A cache of values derived from dictionary entries, by ID.
///
/// The recorder numbers entries from 1, so nearly all are found without hashing. A damaged trace can have any ID. High
/// IDs are hashed.
struct NumberedCache<Value: Sendable>: Sendable {
    /// The limit below which each ID has a slot of its own.
    private static var nearby: Int { 1 << 16 }

    private var near: ContiguousArray<Value?> = []
    private var far: [DictionaryID: Value] = [:]

    subscript(id: DictionaryID) -> Value? {
        @inline(__always)
        get {
            let position = Int(id)
            if position < near.count { return near[position] }
            return position < Self.nearby ? nil : far[id]
        }
        set {
            let position = Int(id)
            guard position < Self.nearby else {
                far[id] = newValue
                return
            }
            if position >= near.count {
                near.append(contentsOf: repeatElement(nil, count: max(position + 1 - near.count, near.count)))
            }
            near[position] = newValue
        }
    }
}
