internal import FaultlineTrace

/// A relationship and those that other entities inherit from its own: for a rule they are one.
///
/// A trace tells each by the object's own entity: of members and moderators, who are members, `Member.profile` and
/// `Moderator.profile`.
struct RelationshipFamilies {
    private let profile: Profile
    private let heads: [FetchProfile.Edge: FetchProfile.Edge]

    init(_ profile: Profile) {
        self.profile = profile
        var heads: [FetchProfile.Edge: FetchProfile.Edge] = [:]
        let trees = Dictionary(grouping: profile.entities) { $0.root ?? $0.name }
        for entities in trees.values where entities.count > 1 {
            // Who inherits has all properties of its parent, and mostly more; of equals the root stands first.
            let order = { (entity: EntityEntry) in
                (entity.properties.count, entity.root == nil || entity.root == entity.name ? 0 : 1, entity.name)
            }
            let ordered = entities.sorted { order($0) < order($1) }
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

    /// The relationship of the entity that others inherit it from, as far as the trace knows the entities.
    func head(of edge: FetchProfile.Edge) -> FetchProfile.Edge { heads[edge] ?? edge }

    /// Relationships by their heads.
    func grouped(
        _ edges: some Sequence<FetchProfile.Edge>
    ) -> [FetchProfile.Edge: [FetchProfile.Edge]] {
        Dictionary(grouping: edges) { head(of: $0) }
    }

    /// Whether objects of an entity have the relationship, as their own or inherited, or some of them do.
    func inherits(_ entity: String, _ edge: FetchProfile.Edge) -> Bool {
        entity == edge.entity || head(of: FetchProfile.Edge(entity: entity, name: edge.name)) == head(of: edge)
    }
}
