internal import FaultlineProfile
internal import FaultlineTrace

/// Builds key paths from relationships that fired, relationships that are prefetched, and the model.
struct KeyPaths {
    let profile: Profile

    /// Returns the key path to prefetch from a fetch's entity to a relationship, such as `"books.publisher"`.
    ///
    /// The path uses relationships that fired on the fetch's objects or that the fetch already prefetches. The shortest
    /// path wins. Returns `nil` if the trace has no path.
    func path(to edge: FetchProfile.Edge, of fetch: FetchProfile.Key) -> String? {
        let start = fetch.shape.entity
        if isKind(start, of: edge) { return edge.name }
        var known = Set((profile.fetch(fetch)?.firedRelationships ?? [:]).keys)
        for path in fetch.shape.prefetch { known.formUnion(edges(of: path, from: start)) }
        var frontier: [(entity: String, path: [String])] = [(start, [])]
        var seen: Set<String> = [start]
        for _ in 0..<4 {
            var next: [(entity: String, path: [String])] = []
            for (entity, path) in frontier {
                for property in relationships(of: entity) where known.contains(where: { $0.name == property.name }) {
                    guard let target = property.destination, seen.insert(target).inserted else { continue }
                    if isKind(target, of: edge) {
                        return (path + [property.name, edge.name]).joined(separator: ".")
                    }
                    next.append((target, path + [property.name]))
                }
            }
            frontier = next
        }
        return nil
    }

    /// The destination entity of a relationship.
    func destination(of edge: FetchProfile.Edge) -> String? {
        relationships(of: edge.entity).first { $0.name == edge.name }?.destination
    }

    /// The relationships along a key path.
    func edges(of path: String, from start: String) -> [FetchProfile.Edge] {
        var entity: String? = start
        return path.split(separator: ".").compactMap { part in
            guard let current = entity else { return nil }
            let edge = FetchProfile.Edge(entity: current, name: String(part))
            entity = destination(of: edge)
            return edge
        }
    }

    /// Whether an entity is the relationship's, or its ancestor or descendant, so that one has all properties of the
    /// other.
    func isKind(_ entity: String, of edge: FetchProfile.Edge) -> Bool {
        if entity == edge.entity { return true }
        guard let one = profile.entity(entity), let other = profile.entity(edge.entity),
            one.properties.contains(where: { $0.name == edge.name })
        else { return false }
        let (names, others) = (Set(one.properties.map(\.name)), Set(other.properties.map(\.name)))
        return names.isSubset(of: others) || others.isSubset(of: names)
    }

    private func relationships(of entity: String) -> [EntityEntry.Property] {
        (profile.entity(entity)?.properties ?? []).filter { $0.type == "toOne" || $0.type == "toMany" }
    }
}
