import FaultlineModel

/// What a property of an object was set to since the object was read or saved.
enum PendingValue: @unchecked Sendable {
    // Objects are their context's; what is shared between threads holds values only.
    case unchanged
    case null
    case value(AttributeValue)
    case object(ManagedObject)
}

/// The unsaved changes of one object: a value for each of its entity's properties.
///
/// The values lie behind the header, since an import makes one of these for every object.
final class PendingChanges: ManagedBuffer<PendingChanges.Header, PendingValue> {
    struct Header {
        fileprivate let count: Int
        /// The key that the save under way gives a new object; 0: none yet.
        fileprivate var newKey: Int64 = 0
    }

    /// Nothing was changed yet.
    static func unchanged(count: Int) -> PendingChanges {
        make(count: count) { start in
            for index in 0..<count { (start + index).initialize(to: .unchanged) }
        }
    }

    /// What a new object holds.
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

    var newKey: Int64 {
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

    /// Where the value of a property lies, for whoever holds this: it is looked at without being copied.
    @inline(__always)
    func place(of index: Int) -> UnsafePointer<PendingValue> {
        withUnsafeMutablePointers { UnsafePointer($1 + checked(index, $0)) }
    }

    @inline(__always)
    private func checked(_ index: Int, _ header: UnsafeMutablePointer<Header>) -> Int {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: header.pointee.count))
        return index
    }

    /// The same changes of an object that turned out to be of a subentity, which has more properties.
    func grown(to count: Int) -> PendingChanges {
        guard count > indices.count else { return self }
        let grown = PendingChanges.unchanged(count: count)
        for index in indices { grown[index] = self[index] }
        grown.newKey = newKey
        return grown
    }
}
