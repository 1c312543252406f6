public import FaultlineModel
import Foundation

extension ManagedObject {
    /// The value of an attribute; see ``AttributeKey``.
    ///
    /// Reading fires a fault.
    ///
    /// If the row is gone or cannot be read, the value is the attribute's default, ``isInaccessible`` is true, an event
    /// records the failure, and the next fetch or save of the context throws.
    @inlinable
    public final subscript<Value: AttributeRepresentable>(key: AttributeKey<Value>) -> Value {
        get { key.value(in: self) }
        set { _set(key.index(in: self), newValue._attributeValue) }
    }

    /// Sets an attribute.
    ///
    /// Traps if the value does not have the attribute's type, which is a programming error.
    public final func _set(_ index: Int, _ value: consuming AttributeValue?) {
        guard isUnobservedNew, runtime.keeps(value, index) else { return setObserved(index, value) }
        let new = value.map { PendingValue.value($0) } ?? .null
        // The object holds its pending changes.
        Unmanaged.passUnretained(pending.unsafelyUnwrapped)._withUnsafeGuaranteedRef { $0[index] = new }
    }

    /// Sets an attribute when the change must be observed, or the value needs converting.
    @inline(never)
    private final func setObserved(_ index: Int, _ value: AttributeValue?) {
        let property = runtime.schema.properties[index]
        let fitting = fitting(value, property)
        if property.isTransient {
            let value = fitting.map { PendingValue.value($0) } ?? .null
            if !flags.contains(.isAwaking) { registerUndo(ofSetting: index, to: value) }
            transients[index] = value
            return
        }
        let context = managedObjectContext
        if context.isCallingWillSave, readValue(index) == fitting { return }
        setPending(index, fitting.map { .value($0) } ?? .null)
        if !flags.contains(.isAwaking) { context.observeUpdate(self) }
    }

    /// Whether the object is new and no one observes its changes before the save, as in an import.
    @inline(__always)
    private final var isUnobservedNew: Bool {
        flags == [.isInserted, .hasPending] && !managedObjectContext.areChangesAwaited
    }

    /// Returns the value in the attribute's type; traps if it does not fit.
    final func fitting(_ value: AttributeValue?, _ property: PropertySchema) -> AttributeValue? {
        guard let type = property.attributeType else {
            incorrectUse("'\(entityName).\(property.name)' is a relationship, not an attribute; name an attribute.")
        }
        let fitting = value.map { Self.convert($0, to: type) }
        requireCorrectUse(
            fitting == nil || fitting!.fits(type),
            "'\(entityName).\(property.name)' of type \(type.rawValue) cannot be set to \(value!).")
        return fitting
    }

    /// Converts a number to the attribute's numeric type, an integer to a Boolean, and a string to a URL.
    package static func convert(_ value: AttributeValue, to type: AttributeType) -> AttributeValue {
        switch (type, value) {
        case (.double, .integer(let number)), (.float, .integer(let number)): .double(Double(number))
        case (.float, .double(let number)): .double(Double(Float(number)))
        case (.decimal, .integer(let number)): .decimal(Decimal(number))
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (.uri, .string(let text)): URL(string: text).map { .uri($0) } ?? value
        default: value
        }
    }

    /// Sets a property and registers the change.
    package final func change(_ index: Int, _ value: PendingValue) {
        setPending(index, value)
        managedObjectContext.observeUpdate(self)
    }

    /// Sets an unsaved value, which hides the row's.
    ///
    /// Fires a fault, because a save compares with the stored value, and ``awakeFromFetch()`` sets transient properties.
    private final func setPending(_ index: Int, _ value: PendingValue) {
        guard !flags.contains(.isDetached) else { return }
        if flags.contains(.isFault) { _ = managedObjectContext.fire(self) }
        if !flags.contains(.isAwaking) { registerUndo(ofSetting: index, to: value) }
        if runtime.schema.properties[index].isTransient {
            transients[index] = value
        } else {
            setPendingUnfired(index, value)
        }
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

    /// Returns the value of a property.
    ///
    /// For an attribute, its value; for a to-one relationship, its object; for a to-many relationship, a ``ToMany`` or,
    /// if it is ordered, an ``OrderedToMany``; for a fetched property, an array of objects. For a transformable
    /// attribute, the attribute's ``ValueTransformer`` decodes the stored bytes; if none with its name is registered,
    /// the bytes are returned.
    ///
    /// Traps if the entity has no such property; ``value(forKeyPath:fileID:line:function:)`` takes key paths.
    public final func value(
        forKey name: String, fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> Any? {
        if runtime.schema.index(of: name) == nil, runtime.schema.fetchedProperties[name] != nil {
            return fetchedObjects(forKey: name, fileID: fileID, line: line, function: function)
        }
        if runtime.schema.index(of: name) == nil {
            let elements = runtime.schema.elements(of: name)
            if !elements.isEmpty { return compositeValue(name, elements) }
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

    /// Sets a property to a value of its attribute's type, an object, a sequence of objects, or `nil`; a composite attribute to a
    /// dictionary.
    ///
    /// Traps if the entity has no such property or the value does not fit it.
    public final func setValue(_ value: Any?, forKey name: String) {
        if runtime.schema.index(of: name) == nil {
            let elements = runtime.schema.elements(of: name)
            if !elements.isEmpty { return setComposite(name, elements, value) }
        }
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

    /// The values of a composite attribute's elements by name, without those that have none; `nil` if none has one.
    private final func compositeValue(_ name: String, _ elements: [PropertySchema]) -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in elements {
            let rest = element.name.dropFirst(name.count + 1)
            let key = String(rest.prefix { $0 != "." })
            if values[key] == nil { values[key] = value(forKey: "\(name).\(key)") }
        }
        return values.isEmpty ? nil : values
    }

    /// Sets the elements of a composite attribute; those that the value lacks get none.
    private final func setComposite(_ name: String, _ elements: [PropertySchema], _ value: Any?) {
        let values = value as? [String: Any]
        if value != nil, values == nil {
            incorrectUse("'\(entityName).\(name)' can only be set to a dictionary of its elements' values.")
        }
        let keys = Set(elements.map { String($0.name.dropFirst(name.count + 1).prefix { $0 != "." }) })
        for key in (values ?? [:]).keys where !keys.contains(key) {
            incorrectUse("'\(entityName).\(name)' has no element '\(key)'.")
        }
        for key in keys { setValue(values?[key], forKey: "\(name).\(key)") }
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

    /// The value of a property by name; see ``value(forKey:fileID:line:function:)`` and ``setValue(_:forKey:)``.
    public final subscript(
        name: String, fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> Any? {
        get { value(forKey: name, fileID: fileID, line: line, function: function) }
        set { setValue(newValue, forKey: name) }
    }

    final func propertyIndex(_ name: String) -> Int {
        guard let index = runtime.schema.index(of: name) else {
            incorrectUse(
                name.contains(".")
                    ? "Entity '\(entityName)' has no property '\(name)'; use value(forKeyPath:) or setValue(_:forKeyPath:) for a key path."
                    : "Entity '\(entityName)' has no property '\(name)'.")
        }
        return index
    }
}

extension AttributeValue {
    /// The value as its Swift type.
    package var plain: any Sendable {
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
