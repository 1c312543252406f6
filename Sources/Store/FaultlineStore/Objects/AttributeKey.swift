public import CStore
import FaultlineModel

/// The name of an attribute with the type of its value, for accessors of hand-written classes.
///
///     final class Item: ManagedObject {
///         static let name = AttributeKey<String>("name")
///         var name: String {
///             get { self[Self.name] }
///             set { self[Self.name] = newValue }
///         }
///     }
///
/// An optional type reads as `nil` if there is no value; any other reads as the attribute's default, or else as
/// zero, empty or false.
///
/// - Complexity: The attribute's index is looked up by name once per entity layout and cached.
public final class AttributeKey<Value: AttributeRepresentable>: @unchecked Sendable {
    /// The name of the attribute in the model.
    public let name: String
    // `location` and `column` are words that are read and written whole; see `cstore_load_word`. With an `Atomic`, the
    // compiler would retain the object before each read, and could not lay out the key of a `static let` at compile
    // time.
    @exclusivity(unchecked)
    @usableFromInline var location: PropertyLocation
    /// The row position for the entity read last; 0 if unknown.
    ///
    /// The layout's number is in the upper half, the property's index below it, and the column's slot in the lowest
    /// byte.
    @exclusivity(unchecked)
    @usableFromInline var column: UInt64

    /// Creates a key for the attribute with that name in the model.
    @inlinable
    public init(_ name: String) {
        self.name = name
        location = PropertyLocation()
        column = 0
    }

    @usableFromInline
    func index(in object: ManagedObject) -> Int {
        location.index(in: object.runtime) ?? find(object.runtime)
    }

    @inline(never)
    private func find(_ runtime: EntityRuntime) -> Int {
        let property = PropertyLocation.property(name, runtime)
        guard let type = property.attributeType else {
            incorrectUse(
                "'\(runtime.schema.name).\(name)' is a relationship, not an attribute of type \(Value.self); use a ToOneKey or ToManyKey."
            )
        }
        requireCorrectUse(
            Value._isStored(as: type),
            "'\(runtime.schema.name).\(name)' of type \(type.rawValue) cannot be read or set as \(Value.self); correct the type of its AttributeKey."
        )
        // External values, and columns without an attention bit, are read by index.
        if Value._isInRow, !property.isExternal, (0..<64).contains(property.slot) {
            cstore_store_word(
                &column, UInt64(runtime.layoutID) << 32 | UInt64(property.index) << 8 | UInt64(property.slot))
        }
        return location.remember(property.index, in: runtime)
    }

    /// The attribute's value in an object.
    @inlinable
    @inline(__always)
    func value(in object: ManagedObject) -> Value {
        // The object owns the row, so it must outlive the read.
        defer { _fixLifetime(object) }
        let column = cstore_load_word(&self.column)
        let slot = column & 63
        // Each branch makes its own call: with a single call, the compiler would retain the object ahead of both
        // branches.
        guard Value._isInRow, _fastPath(UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID) else {
            return preparedValue(in: object)
        }
        let present = object.rowAddress.load(fromByteOffset: StoredValueLocation.presenceOffset, as: UInt64.self)
        guard _fastPath((object.attention | ~present) &>> slot & 1 == 0) else {
            guard let row = object.firePlainly(slot) else { return preparedValue(in: object) }
            return Value._read(at: StoredValueLocation(row: row, slot: Int(truncatingIfNeeded: slot)))
        }
        return Value._read(
            at: StoredValueLocation(row: UnsafeRawPointer(object.rowAddress), slot: Int(truncatingIfNeeded: slot)))
    }

    /// Returns the attribute's value on the slow path: after firing a fault or recording the use.
    @inlinable
    @inline(never)
    func preparedValue(in object: ManagedObject) -> Value {
        if Value._isInRow, let location = preparedValueLocation(in: object) { return Value._read(at: location) }
        return Value._read(from: object, index(in: object))
    }

    /// Returns the position of the attribute's value in an object's row; `nil` if it has to be read by its index.
    ///
    /// Fires a fault and records the use.
    @usableFromInline
    func preparedValueLocation(in object: ManagedObject) -> StoredValueLocation? {
        var column = cstore_load_word(&self.column)
        if UInt32(truncatingIfNeeded: column &>> 32) != object.layoutID {
            _ = index(in: object)
            column = cstore_load_word(&self.column)
        }
        guard UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID else { return nil }
        guard object.flags.isDisjoint(with: .slow) || object.isUnchanged(Int(column >> 8 & 0xff_ffff)) else {
            return nil
        }
        // Firing the fault can change the layout: the row may turn out to belong to a subentity.
        guard UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID else { return nil }
        let slot = Int(truncatingIfNeeded: column & 63)
        guard let row = object.row, row.hasValue(slot: slot) else { return nil }
        return StoredValueLocation(row: UnsafeRawPointer(row.address), slot: slot)
    }
}
