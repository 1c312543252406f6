extension Collection<ManagedObject> {
    /// Calls a closure with each object, which the collection holds meanwhile: none is retained for it.
    ///
    /// For what is done with every object of an import, where retaining and releasing takes as long as the work. The
    /// collection lies in one piece, and the closure does not change it.
    @inline(__always)
    func forEachHeld(_ body: (ManagedObject) -> Void) {
        withContiguousStorageIfAvailable { objects in
            for object in UnsafeRawBufferPointer(objects).bindMemory(to: Unmanaged<ManagedObject>.self) {
                object._withUnsafeGuaranteedRef(body)
            }
        }!
    }

    /// The objects that meet a condition; of an array whose objects all do it is no copy.
    func keeping(_ isWanted: (ManagedObject) -> Bool) -> [ManagedObject] {
        var count = 0
        forEachHeld { if isWanted($0) { count += 1 } }
        return count == self.count ? Array(self) : filter(isWanted)
    }
}
