internal import FaultlineProfile
internal import FaultlineTrace

/// A relationship together with those that other entities inherit from it, which rules treat as one.
///
/// A trace names a relationship by the object's own entity: `Member.profile` and `Moderator.profile` if moderators are
/// members.
struct RelationshipFamilies {
    private let profile: Profile
    private let heads: [FetchProfile.Edge: FetchProfile.Edge]

    init(_ profile: Profile) {
        self.profile = profile
        var heads: [FetchProfile.Edge: FetchProfile.Edge] = [:]
        let trees = Dictionary(grouping: profile.entities) { $0.root ?? $0.name }
        for entities in trees.values where entities.count > 1 {
            // A descendant has all properties of its parent, and usually more. Of equals, the root comes first.
            let order = { (entity: EntityEntry) in
                (entity.properties.count, entity.root == nil || entity.root == entity.name ? 0 : 1, entity.name)
            }
            let ordered = entities.ordered { order($0) < order($1) }
            for entity in ordered {
                let names = Set(entity.properties.map(\.name))
                for property in entity.properties where property.type == "toOne" || property.type == "toMany" {
                    let head = ordered.first { other in
                        other.property(property.name)?.destination == property.destination
                            && other.properties.allSatisfy { names.contains($0.name) }
                    }
                    heads[FetchProfile.Edge(entity: entity.name, name: property.name)] = FetchProfile.Edge(
                        entity: head?.name ?? entity.name, name: property.name)
                }
            }
        }
        self.heads = heads
    }

    /// The relationship of the entity that declares it, as far as the trace has the entities.
    func head(of edge: FetchProfile.Edge) -> FetchProfile.Edge { heads[edge] ?? edge }

    /// Groups relationships by their heads.
    func grouped(
        _ edges: some Sequence<FetchProfile.Edge>
    ) -> [FetchProfile.Edge: [FetchProfile.Edge]] {
        Dictionary(grouping: edges) { head(of: $0) }
    }

    /// Whether objects of an entity, or some of them, have the relationship, declared or inherited.
    func inherits(_ entity: String, _ edge: FetchProfile.Edge) -> Bool {
        entity == edge.entity || head(of: FetchProfile.Edge(entity: entity, name: edge.name)) == head(of: edge)
    }
}
