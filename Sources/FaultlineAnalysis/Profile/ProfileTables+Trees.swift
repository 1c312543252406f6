internal import FaultlineTrace

extension ProfileTables {
    /// The root entity of an entity's inheritance tree.
    func tree(of entity: String) -> String { model[entity]?.root ?? entity }

    /// The entity trees that determine a shape's results and their order, or `nil` if they cannot be determined.
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

    /// The trees of the entities along a key path, or `nil` if the model does not have the path.
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
