internal import FaultlineTrace

/// An index that an entity could have: what is compared for equality first, then one range or what rows are sorted by.
package struct IndexProposal: Sendable, Hashable {
    package struct Element: Sendable, Hashable {
        package var property: String
        package var isAscending = true

        /// The property's column.
        var column: String { "Z" + property.uppercased() }
    }

    package var entity: String
    package var elements: [Element]
    /// How many of the first elements are compared for equality: their order among each other makes no difference.
    var equalities: Int

    /// `album, title`.
    var properties: Wording { .properties(elements.map(\.property)) }

    /// Whether it is told by the table's columns, since the trace does not know what their properties are called.
    var namesColumns: Bool { elements.contains { EntityEntry.isColumn($0.property) } }

    /// What to do where nothing but the columns is known.
    var modelFix: Wording {
        "Add a fetch index to \(entity: entity) in the model, on the attributes of these columns: first those that are compared "
            + "for equality, then one range, or the sort keys in their order."
    }

    /// The declaration for the model; none where nothing but the columns is known.
    var code: [String] {
        guard !namesColumns else { return [] }
        let name = "by" + elements.map { $0.property.prefix(1).uppercased() + $0.property.dropFirst() }.joined()
        // Equal directions can be read from either end.
        guard Set(elements.dropFirst(equalities).map(\.isAscending)).count > 1 else {
            let on = elements.map { "\"\($0.property)\"" }.joined(separator: ", ")
            return ["FetchIndexDescription(\"\(name)\", on: \(on))"]
        }
        let parts = elements.map { ".init(\"\($0.property)\"\($0.isAscending ? "" : ", isAscending: false"))" }
        return ["FetchIndexDescription(\"\(name)\", elements: [\(parts.joined(separator: ", "))])"]
    }

    /// The index made for the fetches that want it; `nil` where nothing but the columns is known.
    func remedy(for fetches: [FetchProfile.Key]) -> Remedy? { namesColumns ? nil : .index(self, fetches) }

    /// Whether it is one that every store has of its relationships.
    func isOfRelationship(_ profile: Profile) -> Bool {
        elements.count == 1 && profile.entity(entity)?.property(elements[0].property)?.type == "toOne"
    }

    /// Whether an index serves what another one would: its first elements are the other's.
    func serves(_ other: IndexProposal) -> Bool {
        guard entity == other.entity, other.elements.count <= elements.count else { return false }
        if Array(elements.prefix(other.elements.count)) == other.elements { return true }
        let count = other.elements.count
        return other.equalities == count && count <= equalities
            && Set(elements.prefix(count).map(\.property)) == Set(other.elements.map(\.property))
    }
}

extension IndexProposal {
    /// The index of some columns of a table in the words of the model; `nil`: the trace does not say whose they are.
    init?(table: String, columns: [String], _ profile: Profile) {
        for entity in profile.entities where entity.table == table.uppercased() {
            let known = entity.properties.filter { $0.type != "toMany" }.map { Element(property: $0.name) }
            let elements = columns.compactMap { column in known.first { $0.column == column.uppercased() } }
            guard elements.count == columns.count else { continue }
            self.init(entity: entity.name, elements: elements, equalities: columns.count)
            return
        }
        return nil
    }
}

extension ShapeEntry.Term {
    /// Whether an index can find the rows that fulfil the term: a plain comparison with a value, which must hold.
    private var isIndexable: Bool {
        isAlternative != true && isNegated != true && options == nil && isFolded != true && operand != "expression"
            && keyPath.uppercased() != "SELF"
    }

    /// Whether it asks for one value, or for one of a few.
    var isEquality: Bool { isIndexable && (operation == "==" || operation == "IN") }

    /// Whether it asks for values that lie together.
    var isRange: Bool {
        isIndexable && operand == "value" && ["<", "<=", ">", ">=", "BETWEEN", "BEGINSWITH"].contains(operation)
    }
}

extension EntityEntry {
    /// The table that has its rows.
    var table: String { "Z" + (root ?? name).uppercased() }

    /// Whether it is a property of the entity with a column, or a column itself where its properties are not told.
    func hasColumn(_ name: String) -> Bool {
        properties.isEmpty ? Self.isColumn(name) : column(name) != nil
    }

    /// Whether it is a name that a store gives to columns of properties: `"ZTITLE"`.
    static func isColumn(_ name: String) -> Bool {
        name.utf8.count > 1 && name.hasPrefix("Z") && !name.hasPrefix("Z_")
            && !name.contains { $0.isLowercase || $0 == "." || $0 == " " || $0 == "(" }
    }

    /// A property of its own with a column: an attribute or a to-one relationship.
    func column(_ name: String) -> Property? {
        property(name).flatMap { $0.type != "toMany" ? $0 : nil }
    }
}
