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
/// An optional type reads as `nil` where there is no value; any other reads as the attribute's default, or else as
/// zero, empty or false.
///
/// - Complexity: the place of the attribute is looked up by name once and remembered.
public final class AttributeKey<Value: AttributeRepresentable>: @unchecked Sendable {
    // What changes are words that are read and written as a whole; see `cstore_load_word`. An `Atomic` would be an obstacle
    // to the compiler, which would retain the object in front of it for whoever reads, and no key of a `static let` could
    // be laid out before the program runs.
    public let name: String
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace
    /// Where the values of the entity that was asked last stand in its rows: the layout's number in the upper half, below
    /// it the property's index, and the column's place in the lowest byte; 0: not there.
    @exclusivity(unchecked)
    @usableFromInline var column: UInt64

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
        column = 0
    }

    @usableFromInline
    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime) ?? find(object.runtime)
    }

    @inline(never)
    private func find(_ runtime: EntityRuntime) -> Int {
        let property = PropertyPlace.property(name, runtime)
        guard let type = property.attributeType else {
            incorrectUse(
                "'\(runtime.schema.name).\(name)' is a relationship, not an attribute of type \(Value.self); name it in a ToOneKey or ToManyKey."
            )
        }
        requireCorrectUse(
            Value._isStored(as: type),
            "'\(runtime.schema.name).\(name)' of type \(type.rawValue) cannot be read or set as \(Value.self); correct the type of its AttributeKey."
        )
        // What is read in another way, or has no bit to watch it by, is read by its index.
        if Value._isInRow, !property.isExternal, (0..<64).contains(property.slot) {
            cstore_store_word(
                &column, UInt64(runtime.layoutID) << 32 | UInt64(property.index) << 8 | UInt64(property.slot))
        }
        return place.remember(property.index, in: runtime)
    }

    /// The attribute's value in an object.
    @inlinable
    @inline(__always)
    func value(in object: ManagedObject) -> Value {
        // The value is read from the row, which the object holds.
        defer { _fixLifetime(object) }
        let column = cstore_load_word(&self.column)
        let slot = column & 63
        // A call of its own behind each branch: the compiler retains the object for the call, and in front of both branches
        // if it is one call.
        guard Value._isInRow, _fastPath(UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID) else {
            return preparedValue(in: object)
        }
        let present = object.rowAddress.load(fromByteOffset: StoredValuePlace.presenceOffset, as: UInt64.self)
        guard _fastPath((object.attention | ~present) &>> slot & 1 == 0) else {
            guard let row = object.firePlainly(slot) else { return preparedValue(in: object) }
            return Value._read(at: StoredValuePlace(row: row, slot: Int(truncatingIfNeeded: slot)))
        }
        return Value._read(
            at: StoredValuePlace(row: UnsafeRawPointer(object.rowAddress), slot: Int(truncatingIfNeeded: slot)))
    }

    /// The attribute's value, after what must happen before it can be read.
    @inlinable
    @inline(never)
    func preparedValue(in object: ManagedObject) -> Value {
        if Value._isInRow, let place = preparedValuePlace(in: object) { return Value._read(at: place) }
        return Value._read(from: object, index(in: object))
    }

    /// Where the attribute's value stands in an object's row; `nil`: it has to be read by its index.
    ///
    /// Fires a fault and notes the use.
    @usableFromInline
    func preparedValuePlace(in object: ManagedObject) -> StoredValuePlace? {
        var column = cstore_load_word(&self.column)
        if UInt32(truncatingIfNeeded: column &>> 32) != object.layoutID {
            _ = index(in: object)
            column = cstore_load_word(&self.column)
        }
        guard UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID else { return nil }
        guard object.flags.isDisjoint(with: .slow) || object.isUnchanged(Int(column >> 8 & 0xff_ffff)) else {
            return nil
        }
        // The layout may be another one now: the row can turn out to be of a subentity.
        guard UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID else { return nil }
        let slot = Int(truncatingIfNeeded: column & 63)
        guard let row = object.row, row.hasValue(slot: slot) else { return nil }
        return StoredValuePlace(row: UnsafeRawPointer(row.address), slot: slot)
    }
}
