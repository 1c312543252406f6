package import FaultlineModel

/// The unsaved state of one property since its object was last read or saved.
package enum PendingValue: @unchecked Sendable {
    // Objects belong to their context; state shared between threads contains values only.
    case unchanged
    case null
    case value(AttributeValue)
    case object(ManagedObject)
}

/// The unsaved changes of one object: a value for each of its entity's properties.
///
/// The values are tail-allocated, because an import creates one of these for every object.
package final class PendingChanges: ManagedBuffer<PendingChanges.Header, PendingValue> {
    package struct Header {
        fileprivate let count: Int
        /// The key that the save in progress assigns to a new object; 0 until then.
        fileprivate var newKey: Int64 = 0
    }

    /// Creates changes without any change.
    static func unchanged(count: Int) -> PendingChanges {
        make(count: count) { start in
            for index in 0..<count { (start + index).initialize(to: .unchanged) }
        }
    }

    /// Creates the changes of a new object, with its default values.
    static func copy(of values: UnsafeMutableBufferPointer<PendingValue>) -> PendingChanges {
        make(count: values.count) { start in
            for index in values.indices { (start + index).initialize(to: values[index]) }
        }
    }

    @inline(__always)
    private static func make(count: Int, _ fill: (UnsafeMutablePointer<PendingValue>) -> Void) -> PendingChanges {
        let made = create(minimumCapacity: count) { _ in Header(count: count) }
        made.withUnsafeMutablePointerToElements(fill)
        return unsafeDowncast(made, to: PendingChanges.self)
    }

    deinit {
        withUnsafeMutablePointers { header, values in
            for index in 0..<header.pointee.count {
                switch values[index] {
                case .unchanged, .null: break
                case .value, .object: (values + index).deinitialize(count: 1)
                }
            }
        }
    }

    package var newKey: Int64 {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.newKey } }
        @inline(__always) set { withUnsafeMutablePointerToHeader { $0.pointee.newKey = newValue } }
    }

    var indices: Range<Int> {
        withUnsafeMutablePointerToHeader { 0..<$0.pointee.count }
    }

    /// The value of a property, by its index.
    subscript(index: Int) -> PendingValue {
        @inline(__always) get { withUnsafeMutablePointers { $1[checked(index, $0)] } }
        @inline(__always) set { withUnsafeMutablePointers { $1[checked(index, $0)] = newValue } }
    }

    /// The address of a property's value, to inspect it without a copy; the caller must keep this object alive.
    @inline(__always)
    func position(of index: Int) -> UnsafePointer<PendingValue> {
        withUnsafeMutablePointers { UnsafePointer($1 + checked(index, $0)) }
    }

    @inline(__always)
    private func checked(_ index: Int, _ header: UnsafeMutablePointer<Header>) -> Int {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: header.pointee.count))
        return index
    }

    /// Copies the changes for an object whose row turned out to be of a subentity, which has more properties.
    func grown(to count: Int) -> PendingChanges {
        guard count > indices.count else { return self }
        let grown = PendingChanges.unchanged(count: count)
        for index in indices { grown[index] = self[index] }
        grown.newKey = newKey
        return grown
    }
}
