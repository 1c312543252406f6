extension Collection<ManagedObject> {
    /// Calls a closure with each object without retaining it; the collection keeps the objects alive.
    ///
    /// Meant for loops over every object of an import, where retaining and releasing would take as long as the work.
    /// The collection must be stored contiguously, and the closure must not change it.
    @inline(__always)
    func forEachHeld(_ body: (ManagedObject) -> Void) {
        withContiguousStorageIfAvailable { objects in
            for object in UnsafeRawBufferPointer(objects).bindMemory(to: Unmanaged<ManagedObject>.self) {
                object._withUnsafeGuaranteedRef(body)
            }
        }!
    }

    /// Returns the objects that meet a condition, without copying an array whose objects all do.
    func keeping(_ isWanted: (ManagedObject) -> Bool) -> [ManagedObject] {
        var count = 0
        forEachHeld { if isWanted($0) { count += 1 } }
        return count == self.count ? Array(self) : filter(isWanted)
    }
}
