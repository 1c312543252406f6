internal import FaultlineTrace

extension ProfileTables {
    /// The entity at the top of an entity's inheritance tree.
    func tree(of entity: String) -> String { model[entity]?.root ?? entity }

    /// The trees of entities that decide what a shape finds and in which order; `nil`: it cannot be told.
    func sources(of shape: ShapeEntry) -> Set<String>? {
        guard let terms = shape.terms, terms.count < ShapeEntry.maximumTerms, shape.expressions == nil,
            shape.groups == nil, !terms.contains(where: { $0.operand == "expression" })
        else { return nil }
        var trees: Set = [tree(of: shape.entity)]
        let sortKeys = shape.sort.compactMap { $0.split(separator: " ").first.map(String.init) }
        for path in terms.map(\.keyPath) + shape.prefetch + sortKeys {
            guard let reached = self.trees(on: path, from: shape.entity) else { return nil }
            trees.formUnion(reached)
        }
        return trees
    }

    /// The trees of the entities that a key path leads through; `nil`: it is none that the model knows.
    private func trees(on path: String, from entity: String) -> Set<String>? {
        var trees: Set<String> = []
        var entity = entity
        for name in path.split(separator: ".") where name.uppercased() != "SELF" && !name.hasPrefix("@") {
            guard let property = model[entity]?.property(name) else { return nil }
            guard let destination = property.destination else { continue }
            entity = destination
            trees.insert(tree(of: destination))
        }
        return trees
    }
}
