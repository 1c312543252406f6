public import FaultlineModel
import Foundation

extension ManagedObject {
    /// The value of an attribute; see ``AttributeKey``.
    ///
    /// Reading fires a fault.
    ///
    /// Where the row is gone, or cannot be read, it is the attribute's default; ``isInaccessible`` says so, an event
    /// records it, and the next fetch or save of the context throws.
    @inlinable
    public final subscript<Value: AttributeRepresentable>(key: AttributeKey<Value>) -> Value {
        get { key.value(in: self) }
        set { _set(key.index(in: self), newValue._attributeValue) }
    }

    /// Sets an attribute.
    ///
    /// Traps if the value is not of the attribute's type, which is a mistake in the program.
    public final func _set(_ index: Int, _ value: consuming AttributeValue?) {
        guard isPlainlyNew, runtime.keeps(value, index) else { return setNoted(index, value) }
        let new = value.map { PendingValue.value($0) } ?? .null
        // The object holds them.
        Unmanaged.passUnretained(pending.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0[index] = new }
    }

    /// Sets an attribute where somebody wants to know of it, or where the value is kept in another way.
    @inline(never)
    private final func setNoted(_ index: Int, _ value: AttributeValue?) {
        let property = runtime.schema.properties[index]
        let fitting = fitting(value, property)
        if property.isTransient {
            if !flags.contains(.isAwaking) {
                registerUndo(ofSetting: index, to: fitting.map { .value($0) } ?? .null)
            }
            transients[index] = fitting
            return
        }
        let context = managedObjectContext
        if context.isCallingWillSave, readValue(index) == fitting { return }
        setPending(index, fitting.map { .value($0) } ?? .null)
        if !flags.contains(.isAwaking) { context.observeUpdate(self) }
    }

    /// Whether the object is new, and nobody wants to know what it is set to before it is saved: what an import makes.
    @inline(__always)
    private final var isPlainlyNew: Bool {
        flags == [.isInserted, .hasPending] && !managedObjectContext.areChangesAwaited
    }

    /// The value as the attribute keeps it.
    final func fitting(_ value: AttributeValue?, _ property: PropertySchema) -> AttributeValue? {
        guard let type = property.attributeType else {
            incorrectUse("'\(entityName).\(property.name)' is a relationship and has no value.")
        }
        let fitting = value.map { Self.convert($0, to: type) }
        requireCorrectUse(
            fitting == nil || fitting!.fits(type),
            "'\(entityName).\(property.name)' of type \(type.rawValue) cannot be set to \(value!).")
        return fitting
    }

    /// Numbers that say the same are one value, whichever type they are written in.
    static func convert(_ value: AttributeValue, to type: AttributeType) -> AttributeValue {
        switch (type, value) {
        case (.double, .integer(let number)), (.float, .integer(let number)): .double(Double(number))
        case (.float, .double(let number)): .double(Double(Float(number)))
        case (.decimal, .integer(let number)): .decimal(Decimal(number))
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (.uri, .string(let text)): URL(string: text).map { .uri($0) } ?? value
        default: value
        }
    }

    /// Notes a change.
    final func change(_ index: Int, _ value: PendingValue) {
        setPending(index, value)
        managedObjectContext.observeUpdate(self)
    }

    /// Puts a value over that of the row.
    ///
    /// Fires a fault, since saving compares with what is in the store.
    private final func setPending(_ index: Int, _ value: PendingValue) {
        guard !flags.contains(.isDetached) else { return }
        if flags.contains(.isFault) { _ = managedObjectContext.fire(self) }
        if !flags.contains(.isAwaking) { registerUndo(ofSetting: index, to: value) }
        setPendingUnfired(index, value)
    }

    final func setPendingUnfired(_ index: Int, _ value: PendingValue) {
        if pending == nil {
            pending = PendingChanges.unchanged(count: runtime.schema.properties.count)
            flags.insert(.hasPending)
        }
        unowned(unsafe) let pending = pending!
        pending[index] = value
    }

    // MARK: - By name

    /// The value of a property: an attribute's value, the object of a to-one relationship, the objects of a to-many
    /// relationship as ``ToMany`` or, if it is ordered, ``OrderedToMany``, or those of a fetched property as an array.
    ///
    /// Of a transformable attribute it is what the attribute's ``ValueTransformer`` makes of the bytes, and the bytes
    /// where none of its name is registered.
    ///
    /// Traps if the entity has no such property.
    public final func value(
        forKey name: String, fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> Any? {
        if runtime.schema.index(of: name) == nil, runtime.schema.fetchedProperties[name] != nil {
            return fetchedObjects(forKey: name, fileID: fileID, line: line, function: function)
        }
        let index = propertyIndex(name)
        let property = runtime.schema.properties[index]
        switch property.kind {
        case .attribute(.transformable): return transformedValue(property)
        case .attribute: return readValue(index)?.plain
        case .toOne: return toOne(index)
        case .toMany, .manyToMany:
            return property.isOrdered ? OrderedToMany<ManagedObject>(self, index) : ToMany<ManagedObject>(self, index)
        }
    }

    /// Sets a property: to a value of its attribute's type, to an object, to a sequence of objects, or to `nil`.
    ///
    /// Traps if the entity has no such property or the value does not fit it.
    public final func setValue(_ value: Any?, forKey name: String) {
        let index = propertyIndex(name)
        let property = runtime.schema.properties[index]
        switch property.kind {
        case .attribute: _set(index, Self.scalar(value, for: property, of: self))
        case .toOne: setToOne(index, Self.object(value, for: property, of: self))
        case .toMany, .manyToMany:
            guard let objects = value as? any Sequence else {
                incorrectUse("'\(entityName).\(name)' can only be set to a sequence of objects.")
            }
            setToMany(index, objects.map { $0 as! ManagedObject })
        }
    }

    static func scalar(_ value: Any?, for property: PropertySchema, of owner: ManagedObject) -> AttributeValue? {
        guard let value else { return nil }
        if property.attributeType == .transformable { return transformed(value, for: property, of: owner) }
        guard let scalar = value as? any AttributeScalar else {
            incorrectUse("'\(owner.entityName).\(property.name)' cannot be set to a \(type(of: value)).")
        }
        return scalar.attributeValue
    }

    static func object(_ value: Any?, for property: PropertySchema, of owner: ManagedObject) -> ManagedObject? {
        guard let value else { return nil }
        guard let object = value as? ManagedObject else {
            incorrectUse("'\(owner.entityName).\(property.name)' cannot be set to a \(type(of: value)).")
        }
        owner.check(object, property)
        return object
    }

    /// The value of a property by name; see ``value(forKey:)`` and ``setValue(_:forKey:)``.
    public final subscript(
        name: String, fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> Any? {
        get { value(forKey: name, fileID: fileID, line: line, function: function) }
        set { setValue(newValue, forKey: name) }
    }

    final func propertyIndex(_ name: String) -> Int {
        guard let index = runtime.schema.index(of: name) else {
            incorrectUse("Entity '\(entityName)' has no property '\(name)'.")
        }
        return index
    }
}

extension AttributeValue {
    /// The value in its own type.
    var plain: any Sendable {
        switch self {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .string(let value): value
        case .boolean(let value): value
        case .date(let value): value
        case .binary(let value): value
        case .uuid(let value): value
        case .uri(let value): value
        }
    }
}
