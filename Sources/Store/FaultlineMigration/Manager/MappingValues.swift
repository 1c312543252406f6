import FaultlineModel
import FaultlineStore
import Foundation

/// Evaluates the expressions of an entity mapping for one object.
struct MappingValues {
    private let manager: MigrationManager
    private let compiled: CompiledMapping
    private let policy: EntityMigrationPolicy
    /// `nil` if the newer object was not created from an older one.
    private let source: ManagedObject?
    private let destination: ManagedObject

    init(
        _ manager: MigrationManager, _ compiled: CompiledMapping, _ policy: EntityMigrationPolicy,
        source: ManagedObject?, destination: ManagedObject
    ) {
        (self.manager, self.compiled, self.policy) = (manager, compiled, policy)
        (self.source, self.destination) = (source, destination)
    }

    /// A class that an expression names: `CAST("NSDate", "Class")`.
    private struct ClassName {
        let name: String
    }

    // MARK: - Setting

    /// Sets an attribute of the newer object.
    ///
    /// One without an expression keeps its default value, and so does a required one whose expression gives no value.
    func perform(_ step: CompiledMapping.AttributeStep) throws {
        switch step {
        case .copy(let index, let attribute, let property):
            // Transformable values are copied as bytes.
            set(attribute, try convert(source?.readValue(index), to: attribute, property))
        case .evaluate(let property): try evaluate(property)
        }
    }

    private func evaluate(_ property: PropertyMapping) throws {
        guard let expression = property.valueExpression else { return }
        let attribute = try own(property)
        if attribute.isTransient || attribute.isDerived { return }
        guard let value = try value(expression, property) else { return set(attribute, nil) }
        guard let scalar = (value as? any AttributeScalar)?.attributeValue else {
            if attribute.attributeType == .transformable {
                return destination.setValue(value, forKey: attribute.name)
            }
            throw failure(property, "gives a value of type \(type(of: value))")
        }
        set(attribute, try convert(scalar, to: attribute, property))
    }

    private func set(_ attribute: PropertySchema, _ value: AttributeValue?) {
        if value == nil, attribute.defaultValue != nil {
            // While objects are incomplete, everything is optional in the context.
            let entity = manager.destinationModel.schema.entities[destination.runtime.schema.index]
            if !entity.properties[attribute.index].isOptional { return }
        }
        destination._set(attribute.index, value)
    }

    /// Sets a relationship of the newer object; one without an expression stays empty.
    func setRelationship(_ property: PropertyMapping) throws {
        guard let expression = property.valueExpression else { return }
        let relationship = try own(property)
        let found = try value(expression, property)
        let objects = Self.objects(found)
        guard found == nil || objects != nil else { throw failure(property, "gives no objects") }
        for object in objects ?? [] {
            guard object.managedObjectContext === destination.managedObjectContext else {
                throw failure(property, "gives an older object; convert it with destinationInstances(…)")
            }
            let family = destination.runtime.model.entities[relationship.destination].family
            guard family.contains(object.runtime.schema.index) else {
                throw failure(property, "gives an object of \(object.entityName)")
            }
        }
        if relationship.isToMany {
            destination.setValue(objects ?? [], forKey: relationship.name)
        } else {
            guard objects?.count ?? 0 <= 1 else { throw failure(property, "gives several objects") }
            destination.setToOne(relationship.index, objects?.first)
        }
    }

    /// Sets a to-one relationship when the object is created, to the object that its expression will give.
    ///
    /// The inverse is a to-many relationship of an object that is not loaded, unless a policy set the relationship before.
    func perform(_ reference: CompiledMapping.DirectReference, _ end: ManagedObject?) {
        let index = reference.destination.index
        if destination.toOne(index) != nil {
            destination.setToOne(index, end)
        } else if let end {
            destination.change(index, .object(end))
        }
    }

    private func own(_ property: PropertyMapping) throws(StoreError) -> PropertySchema {
        guard let found = destination.runtime.schema.property(property.name) else {
            throw failure(property, "sets a property that the newer entity does not have")
        }
        return found
    }

    private func convert(
        _ value: AttributeValue?, to attribute: PropertySchema, _ property: PropertyMapping
    ) throws(StoreError) -> AttributeValue? {
        guard let value, attribute.attributeType != nil else { return nil }
        if let fitting = ManagedObject.fitting(value, attribute) { return fitting }
        throw failure(property, "gives a value that is not a valid \(attribute.attributeType?.rawValue ?? "")")
    }

    func failure(_ property: PropertyMapping, _ what: String) -> StoreError {
        let object = source.map { " for the \($0.entityName) object with the primary key \($0.key)" } ?? ""
        let text = property.valueExpression.map { " '\($0)'" } ?? ""
        return StoreError(
            .migration,
            "The mapping '\(compiled.mapping.name)' cannot set '\(destination.entityName).\(property.name)'\(object): its expression\(text) \(what); correct the mapping model."
        )
    }

    private static func objects(_ value: Any?) -> [ManagedObject]? {
        switch value {
        case nil: []
        case let object as ManagedObject: [object]
        case let objects as [ManagedObject]: objects
        case let objects as any Sequence: objects.compactMap { $0 as? ManagedObject }
        default: nil
        }
    }

    // MARK: - Expressions

    private func value(_ expression: MappingExpression, _ property: PropertyMapping) throws -> Any? {
        switch expression {
        case .constant(let value): return value?.plain
        case .variable(let variable):
            switch variable {
            case .manager: return manager
            case .source: return source
            case .destination: return destination
            case .entityMapping: return compiled.mapping
            case .propertyMapping: return property
            case .entityPolicy: return policy
            }
        case .keyPath(let operand, let path):
            guard let start = try value(operand, property) else { return nil }
            if let manager = start as? MigrationManager {
                switch path {
                case "sourceContext": return manager.sourceContext
                case "destinationContext": return manager.destinationContext
                default: throw failure(property, "refers to '\(path)', which the manager does not have")
                }
            }
            guard let found = KeyPathValue.value(path, of: start) else {
                throw failure(property, "refers to '\(path)', which does not exist")
            }
            return found.value
        case .function(let receiver, let selector, let arguments):
            return try call(
                try value(receiver, property), selector, try arguments.map { try value($0, property) }, property)
        case .cast(let operand, let type):
            let value = try value(operand, property)
            if type == "Class", let name = value as? String { return ClassName(name: name) }
            return value
        case .fetch(let request, let context, let countsOnly):
            guard let request = try value(request, property) as? FetchRequest<ManagedObject>,
                let context = try value(context, property) as? ManagedObjectContext
            else { throw failure(property, "fetches without a fetch request or a context") }
            return countsOnly ? Int64(try context.count(for: request)) : Array(try context.fetch(request))
        }
    }

    private func call(
        _ receiver: Any?, _ selector: String, _ arguments: [Any?], _ property: PropertyMapping
    ) throws -> Any? {
        let first = arguments.first.flatMap { $0 }
        switch (receiver, selector) {
        case (nil, _): return nil
        case (is MigrationManager, MappingExpression.instancesOfMapping):
            guard let name = first as? String, arguments.count == 2, let objects = Self.objects(arguments[1]) else {
                throw failure(property, "needs the name of a mapping and objects")
            }
            guard manager.mappingModel?.entityMappingsByName[name] != nil else {
                throw failure(property, "refers to the mapping '\(name)', which the mapping model does not have")
            }
            return manager.destinationInstances(forEntityMappingName: name, sourceInstances: objects)
        case (is MigrationManager, MappingExpression.instancesOfRelationship):
            guard arguments.count == 2, let objects = Self.objects(arguments[1]) else {
                throw failure(property, "needs the name of a relationship and objects")
            }
            return manager.destinationInstances(of: objects)
        case (is MigrationManager, "fetchRequestForSourceEntityNamed:predicateString:"):
            guard let name = first as? String, arguments.count == 2, let text = arguments[1] as? String else {
                throw failure(property, "needs the name of an entity and a predicate")
            }
            return FetchRequest<ManagedObject>(
                entityName: name, predicate: try FetchPredicate(format: text))
        case (is MigrationManager, "sourceContext"): return manager.sourceContext
        case (is MigrationManager, "destinationContext"): return manager.destinationContext
        case (let policy as EntityMigrationPolicy, _):
            return try policy.value(forFunction: selector, arguments: arguments)
        case (let start?, "valueForKey:"), (let start?, "valueForKeyPath:"):
            guard let path = first as? String, let found = KeyPathValue.value(path, of: start) else {
                throw failure(property, "uses a key that does not exist")
            }
            return found.value
        case (let name as ClassName, "date") where name.name == "NSDate": return Date()
        case (let name as ClassName, "UUID") where name.name == "NSUUID": return UUID()
        default: throw failure(property, "calls '\(selector)', which is not supported")
        }
    }
}

extension ManagedObject {
    /// Returns a value as a mapping model converts it for an attribute, or `nil` if it does not fit.
    static func fitting(_ value: AttributeValue, _ attribute: PropertySchema) -> AttributeValue? {
        guard let type = attribute.attributeType else { return nil }
        let fitting =
            switch (value, type) {
            case (.boolean(let isTrue), .integer16), (.boolean(let isTrue), .integer32),
                (.boolean(let isTrue), .integer64):
                AttributeValue.integer(isTrue ? 1 : 0)
            case (.double(let number), .integer16), (.double(let number), .integer32),
                (.double(let number), .integer64):
                Int64(exactly: number).map { AttributeValue.integer($0) } ?? value
            case (.decimal(let number), .double), (.decimal(let number), .float):
                AttributeValue.double(NSDecimalNumber(decimal: number).doubleValue)
            case (.decimal(let number), .integer16), (.decimal(let number), .integer32),
                (.decimal(let number), .integer64):
                Int64(number.description).map { AttributeValue.integer($0) } ?? value
            case (.double(let number), .decimal): AttributeValue.decimal(Decimal(number))
            case (.integer(let number), .boolean) where number == 0 || number == 1:
                AttributeValue.boolean(number == 1)
            default: convert(value, to: type)
            }
        return fitting.fits(type) ? fitting : nil
    }
}
