import FaultlineModel
import Foundation

/// Access to transformable attributes by name, through their transformers.
extension ManagedObject {
    /// The value that an attribute's transformer decodes; the stored bytes if the transformer is not registered.
    final func transformedValue(_ property: PropertySchema) -> Any? {
        transformedValue(readValue(property.index), property)
    }

    /// Returns an attribute's value in the form of ``value(forKey:fileID:line:function:)``.
    final func transformedValue(_ value: AttributeValue?, _ property: PropertySchema) -> Any? {
        guard let value, property.attributeType == .transformable else { return value?.plain }
        guard case .binary(let data) = value, let transformer = property.transformer else { return value.plain }
        guard let found = transformer.value(data) else {
            observeUnreadable(property.index, data, as: "'\(property.transformerName.rawValue)'")
            return nil
        }
        return found
    }

    /// Encodes a value with the attribute's transformer or, for a ``TransformableValue``, with that of its type.
    static func transformed(_ value: Any, for property: PropertySchema, of owner: ManagedObject) -> AttributeValue {
        if let value = value as? any TransformableValue { return value.attributeValue }
        if let value = value as? AttributeValue { return value }
        guard let transformer = property.transformer else {
            guard let data = value as? Data else {
                incorrectUse(
                    "'\(owner.entityName).\(property.name)' cannot be set to a \(type(of: value)) because no transformer '\(property.transformerName.rawValue)' is registered; register it, or set Data."
                )
            }
            return .binary(data)
        }
        guard let data = transformer.data(value) else {
            incorrectUse(
                "'\(owner.entityName).\(property.name)' cannot be set to a \(type(of: value)) because its transformer '\(property.transformerName.rawValue)' returned no data for it."
            )
        }
        return .binary(data)
    }

    final func observeUnreadable(_ index: Int, _ data: Data, as name: String) {
        let property = runtime.schema.properties[index]
        managedObjectContext.observeReadError(
            StoreError(
                .transformation,
                "Reading \(entityName) \(objectID): \(name) cannot decode the \(data.count) bytes of '\(property.name)'; read them as Data, or correct the attribute's transformer.",
                objectID: objectID))
    }
}

extension PropertySchema {
    fileprivate var transformerName: ValueTransformerName {
        guard let name = valueTransformerName, !name.isEmpty else { return .secureUnarchiveFromDataTransformerName }
        return ValueTransformerName(name)
    }

    fileprivate var transformer: ValueTransformer? { .valueTransformer(forName: transformerName) }
}

extension ValueTransformer {
    /// Encodes a value to the bytes that the store keeps.
    final func data(_ value: Any) -> Data? {
        (self is SecureUnarchiveFromDataTransformer ? reverseTransformedValue(value) : transformedValue(value)) as? Data
    }

    /// Decodes the bytes that the store keeps.
    final func value(_ data: Data) -> Any? {
        self is SecureUnarchiveFromDataTransformer ? transformedValue(data) : reverseTransformedValue(data)
    }
}
