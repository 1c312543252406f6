public import CStore
public import FaultlineModel
public import Foundation

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
            preconditionFailure(
                "'\(runtime.schema.name).\(name)' is a relationship, not an attribute of type \(Value.self); name it in a ToOneKey or ToManyKey."
            )
        }
        precondition(
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
        guard _fastPath((object.attention | ~present) &>> slot & 1 == 0) else { return preparedValue(in: object) }
        return Value._read(
            at: StoredValuePlace(
                row: UnsafeRawPointer(object.rowAddress),
                offset: StoredValuePlace.columnsOffset &+ Int(truncatingIfNeeded: slot) &* 8))
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
        if object.flags != .isFault || !object.fireFromRow() {
            guard object.flags.isDisjoint(with: .slow) || object.isUnchanged(Int(column >> 8 & 0xff_ffff)) else {
                return nil
            }
            // The layout may be another one now: the row can turn out to be of a subentity.
            guard UInt32(truncatingIfNeeded: column &>> 32) == object.layoutID else { return nil }
        }
        let slot = Int(truncatingIfNeeded: column & 63)
        guard let row = object.row, row.hasValue(slot: slot) else { return nil }
        return StoredValuePlace(
            row: UnsafeRawPointer(row.address), offset: StoredValuePlace.columnsOffset + slot * 8)
    }
}

/// The name of a to-one relationship with the class of its destination; see ``AttributeKey``.
public final class ToOneKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: false, in: object.runtime)
    }
}

/// The name of a to-many relationship with the class of its destination; see ``AttributeKey``.
public final class ToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: true, in: object.runtime)
    }
}

/// The name of an ordered to-many relationship with the class of its destination; see ``AttributeKey``.
public final class OrderedToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime) ?? find(object.runtime)
    }

    @inline(never)
    private func find(_ runtime: EntityRuntime) -> Int {
        let property = PropertyPlace.property(name, runtime)
        precondition(
            property.isToMany && property.isOrdered,
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not an ordered to-many relationship; correct the kind of its key."
        )
        return place.remember(property.index, in: runtime)
    }
}

/// Where a property stands in the entity that was asked last.
///
/// What is remembered was checked: reading takes the bytes of a row for what the key says they are.
@usableFromInline
struct PropertyPlace {
    /// The layout's number above, the property's index below; 0: not asked yet.
    @usableFromInline var known: UInt64

    @inlinable
    init() {
        known = 0
    }

    @inline(__always)
    mutating func index(in runtime: EntityRuntime) -> Int? {
        let known = cstore_load_word(&known)
        return known >> 32 == UInt64(runtime.layoutID) ? Int(truncatingIfNeeded: known & 0xffff_ffff) : nil
    }

    static func property(_ name: String, _ runtime: EntityRuntime) -> PropertySchema {
        guard let property = runtime.schema.property(name) else {
            preconditionFailure("Entity '\(runtime.schema.name)' has no property '\(name)'.")
        }
        return property
    }

    @inline(never)
    mutating func findRelationship(_ name: String, isToMany: Bool, in runtime: EntityRuntime) -> Int {
        let property = Self.property(name, runtime)
        precondition(
            isToMany ? property.isToMany : property.kind == .toOne,
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not a to-\(isToMany ? "many" : "one") relationship; correct the kind of its key."
        )
        return remember(property.index, in: runtime)
    }

    mutating func remember(_ index: Int, in runtime: EntityRuntime) -> Int {
        cstore_store_word(&known, UInt64(runtime.layoutID) << 32 | UInt64(index))
        return index
    }
}

extension PropertySchema {
    fileprivate var kindText: String {
        switch kind {
        case .attribute(let type): "an attribute of type \(type.rawValue)"
        case .toOne: "a to-one relationship"
        case .toMany, .manyToMany: "a to-many relationship"
        }
    }
}

/// What an ``AttributeKey`` can read and write: an ``AttributeScalar``, or an optional one.
public protocol AttributeRepresentable {
    static func _read(from object: ManagedObject, _ index: Int) -> Self
    /// Whether values of this type stand in a row as they are.
    static var _isInRow: Bool { get }
    static func _read(at place: StoredValuePlace) -> Self
    var _attributeValue: AttributeValue? { get }
    /// Whether an attribute of that type keeps its values as this type reads them.
    static func _isStored(as type: AttributeType) -> Bool
}

extension Optional: AttributeRepresentable where Wrapped: AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Wrapped? {
        Wrapped._read(object, index)
    }

    @inlinable
    public static var _isInRow: Bool { Wrapped._isInRow }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Wrapped? { Wrapped._read(at: place) }

    @inlinable
    public var _attributeValue: AttributeValue? { map(\.attributeValue) }

    public static func _isStored(as type: AttributeType) -> Bool { Wrapped._isStored(as: type) }
}

extension AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Self {
        Self._read(object, index) ?? object._default(index)
    }

    @inlinable
    public static var _isInRow: Bool { false }

    public static func _read(at place: StoredValuePlace) -> Self {
        preconditionFailure("\(Self.self) is not read from a row.")
    }

    @inlinable
    public var _attributeValue: AttributeValue? { attributeValue }

    public static func _isStored(as type: AttributeType) -> Bool {
        if Self.self == AttributeValue.self { return true }
        let sample = zeroValue.attributeValue
        switch (sample, type) {
        // Truth values are integers in a row, and the other way round.
        case (.integer, .boolean), (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): return true
        default: return sample.fits(type)
        }
    }
}

extension AttributeScalar where Self: FixedWidthInteger {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Self { Self(truncatingIfNeeded: place.integer) }
}

extension Int: AttributeRepresentable {}
extension Int16: AttributeRepresentable {}
extension Int32: AttributeRepresentable {}
extension Int64: AttributeRepresentable {}

extension Bool: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Bool { place.integer != 0 }
}

extension Double: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Double { place.real }
}

extension Float: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Float { Float(place.real) }
}

extension String: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> String { place.text }
}

extension Date: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at place: StoredValuePlace) -> Date {
        Date(timeIntervalSinceReferenceDate: place.real)
    }
}

extension Data: AttributeRepresentable {}
extension UUID: AttributeRepresentable {}
extension URL: AttributeRepresentable {}
extension Decimal: AttributeRepresentable {}
