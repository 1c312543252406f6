@_exported public import FaultlineModel
@_exported public import FaultlineStore

/// A class that declares its entity.
///
/// ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)`` makes a class conform.
public protocol Entity: ManagedObject, SendableMetatype {
    /// The declaration of the class's entity.
    ///
    /// Created once, on first access.
    static var entityDeclaration: EntityDeclaration { get }
}

extension Entity {
    /// Creates a request for the objects of the class's entity.
    public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }

    /// The name of the property at a key path, including inherited ones; `nil` if the key path is not exactly one
    /// property.
    ///
    ///     Item.propertyName(\.price)    // "price"
    ///
    /// - Complexity: O(1).
    public static func propertyName(_ keyPath: PartialKeyPath<Self>) -> String? {
        entityDeclaration.propertyNames[keyPath]
    }
}

/// A class's declaration of its entity.
///
/// The macro ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)`` generates it from the class.
public final class EntityDeclaration: Sendable {
    /// The class of the entity's objects.
    public let type: any Entity.Type
    /// The parent of the entity.
    public let parent: (any Entity.Type)?
    /// The names of the properties by Swift key path, including inherited ones.
    public let propertyNames: PropertyNames
    /// The entity without the inverses that only other classes name.
    let description: EntityDescription
    /// The relationships, in the order of the description.
    let relationships: [RelationshipDeclaration]

    /// Creates a declaration; called by expansions of the macro.
    public init(
        _ type: any Entity.Type, parent: (any Entity.Type)? = nil, isAbstract: Bool = false,
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        keyPaths: [PropertyKeyPath], properties: [EntityProperty] = [], indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [], fileID: StaticString, line: UInt
    ) {
        self.type = type
        self.parent = parent
        propertyNames = PropertyNames(keyPaths)
        relationships = properties.compactMap(\.relationship)
        description = EntityDescription(
            type.entityName, parent: parent?.entityName, isAbstract: isAbstract,
            attributes: properties.compactMap(\.attribute), relationships: relationships.map(\.description),
            indexes: indexes,
            uniquenessConstraints: properties.compactMap(\.uniquenessConstraint) + uniquenessConstraints,
            renamingIdentifier: renamingIdentifier, versionHashModifier: versionHashModifier, userInfo: userInfo,
            fileID: fileID, line: line)
    }
}

/// A class's declaration of a relationship.
struct RelationshipDeclaration: Sendable {
    var description: RelationshipDescription
    var destination: ManagedObject.Type
    var inverse: RelationshipSettings.Inverse
}

/// Assembles the entities of a model from classes and the classes that they refer to.
struct EntityAssembly {
    /// The given classes in order, followed by their superclasses and the destinations of their relationships.
    private(set) var types: [any Entity.Type] = []
    private(set) var entities: [EntityDescription] = []
    private var positions: [String: Int] = [:]

    init(_ given: [any Entity.Type]) {
        for type in given { add(type) }
        var next = 0
        while next < types.count {
            let declaration = types[next].entityDeclaration
            if let parent = declaration.parent { add(parent) }
            for relationship in declaration.relationships {
                if let type = relationship.destination as? any Entity.Type { add(type) }
            }
            next += 1
        }
        entities = types.map { $0.entityDeclaration.description }
        completeInverses()
        inferInverses()
    }

    private mutating func add(_ type: any Entity.Type) {
        // A plain subclass of an entity's class has that entity.
        let type = type.entityDeclaration.type
        guard !types.contains(where: { $0 == type }) else { return }
        // If two classes declare the same name, the validation of the model reports it.
        if positions[type.entityName] == nil { positions[type.entityName] = types.count }
        types.append(type)
    }

    /// If a relationship names its inverse, completes the other side.
    private mutating func completeInverses() {
        for type in types {
            for relationship in type.entityDeclaration.relationships {
                guard case .named(let name) = relationship.inverse,
                    let (owner, inverse) = find(name, from: relationship.description.destination),
                    declaredInverse(owner, inverse) == .inferred, entities[owner].relationships[inverse].inverse == nil
                else { continue }
                entities[owner].relationships[inverse].inverse = relationship.description.name
            }
        }
    }

    /// Pairs two relationships between the same entities, if the choice is unambiguous.
    private mutating func inferInverses() {
        for position in entities.indices {
            for relationship in entities[position].relationships.indices {
                guard let (owner, inverse) = onlyCounterpart(of: relationship, in: position),
                    let counterpart = onlyCounterpart(of: inverse, in: owner), counterpart == (position, relationship)
                else { continue }
                entities[position].relationships[relationship].inverse = entities[owner].relationships[inverse].name
                entities[owner].relationships[inverse].inverse = entities[position].relationships[relationship].name
            }
        }
    }

    /// The only relationship from the destination back to the entity that has no inverse yet.
    private func onlyCounterpart(of relationship: Int, in position: Int) -> (entity: Int, relationship: Int)? {
        guard isOpen(relationship, in: position),
            let owner = positions[entities[position].relationships[relationship].destination]
        else { return nil }
        let candidates = entities[owner].relationships.indices.filter { candidate in
            isOpen(candidate, in: owner)
                && entities[owner].relationships[candidate].destination == entities[position].name
                && (owner, candidate) != (position, relationship)
        }
        return candidates.count == 1 ? (owner, candidates[0]) : nil
    }

    private func isOpen(_ relationship: Int, in position: Int) -> Bool {
        declaredInverse(position, relationship) == .inferred
            && entities[position].relationships[relationship].inverse == nil
    }

    private func declaredInverse(_ position: Int, _ relationship: Int) -> RelationshipSettings.Inverse {
        types[position].entityDeclaration.relationships[relationship].inverse
    }

    /// The relationship with a name, in an entity or its ancestors.
    private func find(_ name: String, from entity: String) -> (entity: Int, relationship: Int)? {
        var next: String? = entity
        while let owner = next, let position = positions[owner] {
            if let found = entities[position].relationships.firstIndex(where: { $0.name == name }) {
                return (position, found)
            }
            next = entities[position].parent
        }
        return nil
    }
}

/// A property with a direction, for ``Index(_:_:)``, which reads its source text and never evaluates it.
public struct EntityIndexElement<Object: ManagedObject> {
    /// Returns a property that the index has in ascending order.
    public static func ascending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
    /// Returns a property that the index has in descending order.
    public static func descending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
}

/// A class's declaration of one property of its entity.
///
/// Created by expansions of ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct EntityProperty: Sendable {
    private enum Kind {
        case attribute(AttributeDescription, isUnique: Bool)
        case relationship(RelationshipDeclaration)
    }

    private let kind: Kind

    /// Creates an attribute from its key and its initial value.
    public init<Key: AttributeDeclaringKey>(
        _ key: Key, default defaultValue: Key.Value? = nil, _ settings: AttributeSettings = AttributeSettings(),
        fileID: StaticString, line: UInt
    ) {
        let type = settings.type ?? Key.attributeType ?? .undefined
        var description = AttributeDescription(
            key.name, type, isOptional: settings.isOptional ?? Key.isOptional,
            defaultValue: defaultValue.flatMap { Key.attributeValue(of: $0)?.converted(to: type) }, fileID: fileID,
            line: line)
        settings.apply(to: &description)
        kind = .attribute(description, isUnique: settings.options.contains(.unique))
    }

    /// Creates a relationship from its key.
    public init(
        _ key: some RelationshipDeclaringKey, _ settings: RelationshipSettings = RelationshipSettings(),
        fileID: StaticString, line: UInt
    ) {
        let (destination, isToMany, isOrdered) = type(of: key).relationship
        var description = RelationshipDescription(
            key.name, to: destination.entityName, inverse: nil, isToMany: isToMany, isOrdered: isOrdered,
            fileID: fileID, line: line)
        settings.apply(to: &description)
        kind = .relationship(
            RelationshipDeclaration(
                description: description, destination: destination, inverse: settings.inverse))
    }

    /// Never called: the compiler reports the wrong macro.
    @available(*, unavailable, message: "declare a relationship with @Relationship")
    public init(
        _ key: some RelationshipDeclaringKey, _ settings: AttributeSettings, fileID: StaticString, line: UInt
    ) { fatalError() }

    /// Never called: the compiler reports the wrong macro.
    @available(*, unavailable, message: "declare an attribute with @Attribute")
    public init(
        _ key: some AttributeDeclaringKey, _ settings: RelationshipSettings, fileID: StaticString, line: UInt
    ) { fatalError() }

    /// Never called, because programs with such a key do not compile.
    public init<Value>(
        _ key: UnsupportedKey<Value>, default defaultValue: Value? = nil,
        _ settings: AttributeSettings = AttributeSettings(), fileID: StaticString, line: UInt
    ) { fatalError("There is no key.") }

    /// Never called, because programs with such a key do not compile.
    public init<Value>(
        _ key: UnsupportedKey<Value>, _ settings: RelationshipSettings, fileID: StaticString, line: UInt
    ) { fatalError("There is no key.") }

    var attribute: AttributeDescription? {
        if case .attribute(let description, _) = kind { description } else { nil }
    }

    var relationship: RelationshipDeclaration? {
        if case .relationship(let declaration) = kind { declaration } else { nil }
    }

    var uniquenessConstraint: [String]? {
        if case .attribute(let description, isUnique: true) = kind { [description.name] } else { nil }
    }
}
