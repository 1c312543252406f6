package import FaultlineProfile
package import FaultlineTrace

/// An index proposed for an entity: first the properties compared for equality, then one range or the sort keys.
package struct IndexProposal: Sendable, Hashable {
    package struct Element: Sendable, Hashable {
        package var property: String
        package var isAscending = true

        package init(property: String, isAscending: Bool = true) {
            (self.property, self.isAscending) = (property, isAscending)
        }

        /// The property's column.
        package var column: String { "Z" + property.uppercased() }
    }

    package var entity: String
    package var elements: [Element]
    /// The number of leading elements that are compared for equality.
    ///
    /// Their order does not matter.
    package var equalities: Int

    package init(entity: String, elements: [Element], equalities: Int) {
        (self.entity, self.elements, self.equalities) = (entity, elements, equalities)
    }

    /// The properties as a list: `album, title`.
    package var properties: Wording { .properties(elements.map(\.property)) }

    /// The rows that the program wrote, and for which such an index would have been maintained.
    package func writes(_ profile: Profile) -> UInt64 {
        guard let table = profile.entity(entity)?.table else { return profile.writes(of: entity) }
        return profile.writes(of: entity, to: table, indexedBy: elements.map(\.column))
    }

    /// Whether the elements are columns, because the trace does not have the names of their properties.
    package var namesColumns: Bool { elements.contains { EntityEntry.isColumn($0.property) } }

    /// The fix if only the columns are known.
    package var modelFix: Wording {
        "Add a fetch index to \(entity: entity) in the model, on the attributes of these columns: first those that are compared "
            + "for equality, then one range, or the sort keys in their order."
    }

    /// The declaration for the model, or nothing if only the columns are known.
    package var code: [String] {
        guard !namesColumns else { return [] }
        let name = "by" + elements.map { $0.property.prefix(1).uppercased() + $0.property.dropFirst() }.joined()
        // An index whose directions are equal can be read from either end.
        guard Set(elements.dropFirst(equalities).map(\.isAscending)).count > 1 else {
            let on = elements.map { "\"\($0.property)\"" }.joined(separator: ", ")
            return ["FetchIndexDescription(\"\(name)\", on: \(on))"]
        }
        let parts = elements.map { ".init(\"\($0.property)\"\($0.isAscending ? "" : ", isAscending: false"))" }
        return ["FetchIndexDescription(\"\(name)\", elements: [\(parts.joined(separator: ", "))])"]
    }

    /// The remedy that creates the index for its fetches, or `nil` if only the columns are known.
    package func remedy(for fetches: [FetchProfile.Key]) -> Remedy? { namesColumns ? nil : .index(self, fetches) }

    /// Whether the index is one that every store creates for its relationships.
    package func isOfRelationship(_ profile: Profile) -> Bool {
        elements.count == 1 && profile.entity(entity)?.property(elements[0].property)?.type == "toOne"
    }

    /// Whether this index serves the same fetches as another: its first elements are the other's.
    package func serves(_ other: IndexProposal) -> Bool {
        guard entity == other.entity, other.elements.count <= elements.count else { return false }
        if Array(elements.prefix(other.elements.count)) == other.elements { return true }
        let count = other.elements.count
        return other.equalities == count && count <= equalities
            && Set(elements.prefix(count).map(\.property)) == Set(other.elements.map(\.property))
    }
}

extension IndexProposal {
    /// Creates the index for a table's columns in terms of the model.
    ///
    /// Returns `nil` if the trace does not have their properties.
    package init?(table: String, columns: [String], _ profile: Profile) {
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

extension EntityEntry {
    /// The table that holds the entity's rows.
    package var table: String { "Z" + (root ?? name).uppercased() }

    /// Whether `name` is a property with a column or, if the entity's properties are unknown, a column.
    package func hasColumn(_ name: String) -> Bool {
        properties.isEmpty ? Self.isColumn(name) : column(name) != nil
    }

    /// Whether `name` is a store's name for a property's column, such as `"ZTITLE"`.
    package static func isColumn(_ name: String) -> Bool {
        name.utf8.count > 1 && name.hasPrefix("Z") && !name.hasPrefix("Z_")
            && !name.contains { $0.isLowercase || $0 == "." || $0 == " " || $0 == "(" }
    }

    /// The property with that name if it has a column: an attribute or a to-one relationship.
    package func column(_ name: String) -> Property? {
        property(name).flatMap { $0.type != "toMany" ? $0 : nil }
    }
}
