/// What tells an object from all others of a context, but those that are new from what they will be: its place in the
/// identity map.
struct ObjectKey: Hashable {
    var map: Int
    var key: Int64
}

extension ManagedObject {
    final var objectKey: ObjectKey { ObjectKey(map: runtime.map, key: key) }
}
