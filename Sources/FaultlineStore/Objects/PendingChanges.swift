import FaultlineModel

/// What a property of an object was set to since the object was read or saved.
enum PendingValue: @unchecked Sendable {
    // Objects are their context's; what is shared between threads holds values only.
    case unchanged
    case null
    case value(AttributeValue)
    case object(ManagedObject)
}

/// The unsaved changes of one object.
final class PendingChanges {
    /// By property.
    // Read and set value by value; no access lasts longer.
    @exclusivity(unchecked)
    var values: ContiguousArray<PendingValue>
    /// The key that the save under way gives a new object; 0: none yet.
    var newKey: Int64 = 0

    init(count: Int) {
        values = ContiguousArray(repeating: .unchanged, count: count)
    }

    /// Makes room for the properties of a subentity.
    func grow(to count: Int) {
        if values.count < count { values += repeatElement(.unchanged, count: count - values.count) }
    }

    /// What a new object holds.
    init(_ values: ContiguousArray<PendingValue>) {
        self.values = values
    }
}
