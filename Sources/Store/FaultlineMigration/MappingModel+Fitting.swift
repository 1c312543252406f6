import FaultlineModel
import FaultlineStore
import Foundation

extension MappingModel {
    /// The reason why a mapping's entities do not match two models, as part of a sentence; `nil` if they match.
    func misfit(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> String? {
        misfit(source: old.entityVersionHashesByName) ?? misfit(destination: new.entityVersionHashesByName)
    }

    /// The reason why a mapping's older entities do not match a model's version hashes; `nil` if they match.
    func misfit(source hashes: [String: Data]) -> String? {
        entityMappings.lazy.compactMap {
            misfit($0, $0.sourceEntityName, $0.sourceEntityVersionHash, hashes, "older")
        }.first
    }

    /// The reason why a mapping's newer entities do not match a model's version hashes; `nil` if they match.
    func misfit(destination hashes: [String: Data]) -> String? {
        entityMappings.lazy.compactMap {
            misfit($0, $0.destinationEntityName, $0.destinationEntityVersionHash, hashes, "newer")
        }.first
    }

    private func misfit(
        _ mapping: EntityMapping, _ name: String?, _ hash: Data?, _ known: [String: Data], _ age: String
    ) -> String? {
        guard let name else { return nil }
        guard let found = known[name] else {
            return "'\(mapping.name)' names the entity '\(name)', which the \(age) model does not have"
        }
        return hash == nil || hash == found
            ? nil : "'\(mapping.name)' was made for another version of the \(age) entity '\(name)'"
    }
}

// The parts of a mapping model that only copy, which both ways of running it use.

extension EntityMapping {
    /// Whether there is no source expression, or the one that Core Data's editor writes for all objects.
    var selectsAllObjects: Bool {
        switch sourceExpression {
        case nil: return true
        case .fetch(.function(.variable(.manager), _, let arguments), _, countsOnly: false)?:
            return arguments == [
                .constant(sourceEntityName.map { .string($0) }), .constant(.string("TRUEPREDICATE")),
            ]
        default: return false
        }
    }
}

extension PropertyMapping {
    /// The older relationship that the expression continues, and the mapping that it names; `nil` if it does more.
    var continuedRelationship: (name: String, mapping: String?)? {
        guard case .function(.variable(.manager), let selector, let arguments)? = valueExpression, arguments.count == 2,
            case .keyPath(.variable(.source), let key) = arguments[1]
        else { return nil }
        switch (selector, arguments[0]) {
        case (MappingExpression.instancesOfRelationship, _): return (key, nil)
        case (MappingExpression.instancesOfMapping, .constant(.string(let name)?)): return (key, name)
        default: return nil
        }
    }
}

extension MappingModel {
    /// Completes mappings that copy objects without listing properties: they get all properties with equal names.
    func completed(from old: ModelSchema, to new: ModelSchema) -> MappingModel {
        MappingModel(entityMappings: entityMappings.map { $0.completed(from: old, to: new) })
    }
}

extension EntityMapping {
    fileprivate func completed(from old: ModelSchema, to new: ModelSchema) -> EntityMapping {
        guard mappingType == .copy, attributeMappings.isEmpty, relationshipMappings.isEmpty,
            let source = old.entity(named: sourceEntityName ?? ""),
            let destination = new.entity(named: destinationEntityName ?? "")
        else { return self }
        var mapping = self
        for property in destination.properties where !property.isTransient && source.property(property.name) != nil {
            if property.isRelationship {
                mapping.relationshipMappings.append(
                    PropertyMapping(property.name, .destinationInstances(forSourceRelationshipNamed: property.name)))
            } else {
                mapping.attributeMappings.append(PropertyMapping(property.name, .source(property.name)))
            }
        }
        return mapping
    }
}
