import FaultlineModel
import FaultlineStore

/// The data that a migration in SQL carries over, and the conditions that the store's rows must meet.
struct MigrationRules {
    /// An entity of the older version, and the newer version's entity that its objects get.
    struct Link {
        let old: String
        let new: String
        /// The names of the older properties, by those of the newer ones that continue them.
        var names: [String: String] = [:]
        /// The values that newer attributes get in all objects, by name.
        var constants: [String: AttributeValue?] = [:]
    }

    let links: [Link]
    let conditions: [MigrationCondition]
    /// The pairs of a removed and an added property that may be one property under two names.
    let possibleRenamings: [PossibleRenaming]

    init(
        links: [Link], conditions: [MigrationCondition], possibleRenamings: [PossibleRenaming] = []
    ) {
        (self.links, self.conditions, self.possibleRenamings) = (links, conditions, possibleRenamings)
    }

    /// Whether other rules carry over the same objects and values.
    func continues(as other: MigrationRules, from old: ModelSchema, to new: ModelSchema) -> Bool {
        func summary(_ rules: MigrationRules) -> Set<String> {
            Set(
                rules.links.filter { old.entity(named: $0.old)?.isAbstract == false }.flatMap { link in
                    // The store computes derived attributes in any case.
                    let names = link.names.filter {
                        new.entity(named: link.new)?.property($0.key)?.isDerived == false
                    }
                    return ["\(link.old) \(link.new)"] + names.map { "\(link.new) \($0.key) \($0.value)" }
                        + link.constants.map { "\(link.new) \($0.key) = \(String(describing: $0.value))" }
                })
        }
        return summary(self) == summary(other)
    }

    /// Infers the rules from names and renaming identifiers.
    ///
    /// - Throws: ``ModelError`` for the first change that cannot be inferred.
    init(inferredFrom old: ManagedObjectModel, to new: ManagedObjectModel) throws(ModelError) {
        let inference = try MappingInference(from: old, to: new)
        let matching = inference.matching
        links = new.entities.compactMap { entity in
            matching.source(of: entity).map { before in
                Link(
                    old: before.name, new: entity.name, names: matching.propertyNames(of: entity, from: before))
            }
        }
        (conditions, possibleRenamings) = (inference.conditions, inference.possibleRenamings)
    }
}
