import FaultlineDigest
import Foundation

/// The hash of an entity's version, which must be equal for a store to fit a model.
///
/// Core Data's own recipe is not published. This one is sensitive to the same changes, as far as real stores show them: names,
/// parents, the abstract flag, optional flags, types, destinations, counts, order, inverses, uniqueness constraints and hash
/// modifiers. It ignores transient properties, default values, delete rules, validation, indexes, class names and user info,
/// none of which changes what a store contains.
struct VersionHash {
    private var text = "entity 1\n"

    /// Returns the 32 bytes of an entity's hash.
    ///
    /// - Parameter parent: The hash of the parent, which each hash contains.
    static func of(_ entity: EntityDescription, parent: Data?) -> Data {
        var hash = VersionHash()
        hash.add(
            "name", entity.name, entity.isAbstract, entity.versionHashModifier, parent?.base64EncodedString())
        for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) where !attribute.isTransient {
            // The place of large values and the store's triggers are part of the file.
            hash.add(
                "attribute", attribute.name, attribute.type.rawValue, attribute.isOptional,
                attribute.allowsExternalBinaryDataStorage, attribute.derivationExpression,
                attribute.versionHashModifier)
            hash.add(elementsOf: attribute)
        }
        for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) where !relationship.isTransient {
            hash.add(
                "relationship", relationship.name, relationship.destination, relationship.inverse,
                relationship.isToMany, relationship.isOrdered, relationship.isOptional,
                relationship.minimumCount, relationship.maximumCount, relationship.versionHashModifier)
        }
        for constraint in entity.uniquenessConstraints.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            hash.add("unique", constraint)
        }
        return Data(SHA256.hash(hash.text))
    }

    private mutating func add(elementsOf attribute: AttributeDescription) {
        for element in attribute.elements.sorted(by: { $0.name < $1.name }) {
            add("element", element.name, element.type.rawValue, element.isOptional, element.versionHashModifier)
            add(elementsOf: element)
        }
    }

    /// Adds a line of values, each with its length, so that no two lists of values give the same line.
    private mutating func add(_ values: Any?...) {
        for value in values {
            let field =
                switch value {
                case let list as [String]: list.map { "\($0.utf8.count):\($0)" }.joined()
                case let value?: "\(value)"
                case nil: "-"
                }
            text += "\(field.utf8.count):\(field) "
        }
        text += "\n"
    }
}
