import FaultlineModel
import Foundation

/// Validation of an object's values against the model.
extension ManagedObject {
    /// Validates the properties that a save is about to write.
    ///
    /// - Parameter all: Whether to check every property, or only those that were set.
    final func checkForSave(all: Bool) throws {
        let asksClass = overrides(.validateValue)
        guard asksClass || !runtime.checkedProperties.isEmpty else { return }
        var validation = Validation()
        if asksClass {
            for property in runtime.schema.properties where !property.isTransient {
                if property.isDerived {
                    validation.collect { try check(property, all: all) }
                } else if all || isSet(property) {
                    validation.collect { try validate(property) }
                }
            }
        } else {
            for index in runtime.checkedProperties {
                let property = runtime.schema.properties[index]
                validation.collect { try check(property, all: all) }
            }
        }
        try validation.finish()
    }

    /// Lets the class validate a property, and sets the replacement value if it returns one.
    private final func validate(_ property: PropertySchema) throws {
        if case .value(let value)? = pending?[property.index], !property.isOptional, SQLValue(value) == .null {
            throw notANumber(property, value)
        }
        let old = value(forKey: property.name)
        var new = old
        try validateValue(&new, forKey: property.name)
        guard !property.isRelationship else { return }
        // Transformed values cannot be compared; the class must set a replacement itself.
        guard property.attributeType != .transformable else { return }
        let (before, after) = (old as? any AttributeScalar, new as? any AttributeScalar)
        if before?.attributeValue != after?.attributeValue { setValue(new, forKey: property.name) }
    }

    private final func isSet(_ property: PropertySchema) -> Bool {
        if property.isToMany { return toMany[property.index]?.hasChanges == true }
        if case .unchanged? = pending?[property.index] { return false }
        return pending != nil
    }

    private final func check(_ property: PropertySchema, all: Bool) throws(StoreError) {
        if property.isToMany {
            // A relationship that was not changed is still valid.
            guard all || isSet(property) else { return }
            return try checkCount(members(property.index).count, property)
        }
        let value = pending?[property.index] ?? .unchanged
        if property.isDerived { return try checkDerived(property, value, all) }
        switch value {
        case .unchanged where !all: return
        case .unchanged, .null: try checkThere(false, property)
        case .object(let object): try checkThere(!object.isDeleted, property)
        case .value(let value):
            if !property.isOptional, SQLValue(value) == .null { throw notANumber(property, value) }
            try checkLimits(value, property)
        }
    }

    private final func checkDerived(_ property: PropertySchema, _ value: PendingValue, _ all: Bool) throws(StoreError) {
        switch value {
        case .unchanged, .object: return
        case .null where all: return
        case .value(let value) where all && value == property.defaultValue: return
        case .null, .value: break
        }
        throw refusal(.validation, property, "is derived by the store and cannot be set; undo the change.")
    }

    /// Validates a value on behalf of ``validateValue(_:forKey:)``.
    package final func checkValue(_ value: Any?, forKey name: String) throws(StoreError) {
        let property = runtime.schema.properties[propertyIndex(name)]
        switch property.kind {
        case .attribute(let type):
            guard let value else { return try checkThere(false, property) }
            // The limits of the model do not apply to transformable values.
            if type == .transformable { return }
            guard let given = (value as? any AttributeScalar)?.attributeValue else {
                throw refusal(
                    .validation, property, "cannot be a \(Swift.type(of: value)); set a value of type \(type.rawValue)."
                )
            }
            let fitting = Self.convert(given, to: type)
            guard fitting.fits(type) else {
                throw refusal(
                    .validation, property, "cannot be \(given); set a value of type \(type.rawValue).", value: given)
            }
            try checkLimits(fitting, property)
        case .toOne: try checkThere(value != nil, property)
        case .toMany, .manyToMany:
            let count = (value as? any Collection)?.count
            try checkCount(count ?? 0, property)
        }
    }

    // MARK: - Single checks

    private final func checkThere(_ exists: Bool, _ property: PropertySchema) throws(StoreError) {
        guard !exists, !property.isOptional else { return }
        throw refusal(
            .missingMandatoryProperty, property,
            "has no value and is not optional; set it, or make it optional in the model.")
    }

    private final func checkCount(_ count: Int, _ property: PropertySchema) throws(StoreError) {
        if count == 0 {
            guard !property.isOptional else { return }
            throw refusal(
                .missingMandatoryProperty, property,
                "has no objects and is not optional; add one, or make it optional in the model.")
        }
        guard let limits = property.limits else { return }
        let objects = "\(count) object\(count == 1 ? "" : "s")"
        if count < limits.minimumCount {
            throw refusal(
                .relationshipLacksMinimumCount, property,
                "has \(objects), fewer than the model's minimum of \(limits.minimumCount); add some, or lower the minimum in the model."
            )
        }
        if limits.maximumCount > 0, count > limits.maximumCount {
            throw refusal(
                .relationshipExceedsMaximumCount, property,
                "has \(objects), more than the model's maximum of \(limits.maximumCount); remove some, or raise the maximum in the model."
            )
        }
    }

    private final func checkLimits(_ value: AttributeValue, _ property: PropertySchema) throws(StoreError) {
        guard let limits = property.limits else { return }
        if case .string(let text) = value { return try checkText(text, limits, property) }
        let isDate = property.attributeType == .date
        if let minimum = limits.minimum, Self.isOrdered(value, before: minimum) {
            throw refusal(
                isDate ? .dateTooSoon : .numberTooSmall, property,
                "is \(Self.text(value)), less than the model's minimum of \(Self.text(minimum)); set a greater value, or lower the minimum in the model.",
                value: value)
        }
        if let maximum = limits.maximum, Self.isOrdered(maximum, before: value) {
            throw refusal(
                isDate ? .dateTooLate : .numberTooLarge, property,
                "is \(Self.text(value)), more than the model's maximum of \(Self.text(maximum)); set a smaller value, or raise the maximum in the model.",
                value: value)
        }
    }

    private final func checkText(
        _ text: String, _ limits: ValueLimits, _ property: PropertySchema
    ) throws(StoreError) {
        let length = AttributeValue.integer(Int64(text.count))
        let characters = "\(text.count) character\(text.count == 1 ? "" : "s")"
        if let minimum = limits.minimum, Self.isOrdered(length, before: minimum) {
            throw refusal(
                .stringTooShort, property,
                "has \(characters), fewer than the model's minimum of \(Self.text(minimum)); set a longer string, or lower the minimum in the model.",
                value: .string(text))
        }
        if let maximum = limits.maximum, Self.isOrdered(maximum, before: length) {
            throw refusal(
                .stringTooLong, property,
                "has \(characters), more than the model's maximum of \(Self.text(maximum)); set a shorter string, or raise the maximum in the model.",
                value: .string(text))
        }
        if let pattern = runtime.patterns[property.index], pattern.fitsExpression(text) != true {
            throw refusal(
                .stringPatternMatching, property,
                "does not match the model's regular expression '\(limits.regularExpression ?? "")'; set a string that does, or correct the expression in the model.",
                value: .string(text))
        }
    }

    /// Whether a value is less than another; false if they cannot be compared.
    private static func isOrdered(_ left: AttributeValue, before right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return left < right
        case (.date(let left), .date(let right)): return left < right
        default: break
        }
        if let left = Decimal(left), let right = Decimal(right) { return left < right }
        if let left = Double(left), let right = Double(right) { return left < right }
        return false
    }

    private static func text(_ value: AttributeValue) -> String {
        if case .date(let date) = value { return date.formatted(.iso8601) }
        return value.description
    }

    /// Throws if a delete rule of the object's relationships denies its deletion.
    final func checkDenyRules() throws {
        var validation = Validation()
        for index in runtime.denyingProperties {
            let property = runtime.schema.properties[index]
            let others =
                property.isToMany
                ? members(index).filter { !$0.isDeleted }.count : toOne(index) == nil ? 0 : 1
            guard others > 0 else { continue }
            validation.collect {
                var error = StoreError(
                    .deleteDenied,
                    "Deleting \(entityName) \(objectID): the delete rule of '\(property.name)' denies the deletion while related objects exist (\(others)); delete those first.",
                    objectID: objectID)
                error.validationKey = property.name
                throw error
            }
        }
        try validation.finish()
    }

    private final func notANumber(_ property: PropertySchema, _ value: AttributeValue) -> StoreError {
        refusal(
            .missingMandatoryProperty, property,
            "is not a number (NaN), which SQLite stores as NULL, and is not optional; set a number, or make it optional in the model.",
            value: value)
    }

    private final func refusal(
        _ code: StoreError.Code, _ property: PropertySchema, _ what: String, value: AttributeValue? = nil
    ) -> StoreError {
        var error = StoreError(
            code, "Saving \(entityName) \(objectID): '\(property.name)' \(what)", objectID: objectID)
        error.validationKey = property.name
        error.validationValue = value
        return error
    }
}
