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
