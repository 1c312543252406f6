import FaultlineModel
import Foundation

extension MappingModel {
    /// Why a mapping's entities are not those of two models, as a part of a sentence; `nil` if they are.
    func misfit(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> String? {
        misfit(source: old.entityVersionHashesByName) ?? misfit(destination: new.entityVersionHashesByName)
    }

    /// Why a mapping's older entities are not those of a model with some version hashes; `nil` if they are.
    func misfit(source hashes: [String: Data]) -> String? {
        entityMappings.lazy.compactMap {
            misfit($0, $0.sourceEntityName, $0.sourceEntityVersionHash, hashes, "older")
        }.first
    }

    /// Why a mapping's newer entities are not those of a model with some version hashes; `nil` if they are.
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
