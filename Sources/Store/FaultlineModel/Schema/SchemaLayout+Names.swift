/// The names of columns, as Core Data gives them or as an existing store has them.
extension SchemaLayout {
    /// Names a column `Z` and the property's name in capitals, with a number appended if the table already has that
    /// name.
    mutating func nameColumns() {
        var taken: [Int: Set<String>] = [:]
        for (position, entity) in descriptions.enumerated() {
            let names =
                attributes[position].filter { !$0.isTransient && !$0.isElement }.map(\.name)
                + relationships[position].filter(\.hasColumn).map(\.name)
            for name in names {
                let base = "Z" + name.uppercased()
                columnNames[ColumnID(entity: entity.name, property: name)] =
                    Self.claim(base, &taken[roots[position], default: ["Z_PK", "Z_ENT", "Z_OPT"]])
            }
        }
        nameElementColumns(&taken)
        nameOwnerColumns(&taken)
    }

    /// Attributes, with those that composite ones consist of instead of these: `home.city`.
    static func divided(_ attributes: [AttributeDescription]) -> [AttributeDescription] {
        attributes.flatMap { attribute in
            guard attribute.isDivided else { return [attribute] }
            return divided(attribute.elements).map { element in
                var element = element
                element.name = "\(attribute.name).\(element.name)"
                element.isOptional = element.isOptional || attribute.isOptional
                element.isTransient = element.isTransient || attribute.isTransient
                return element
            }
        }
    }

    /// Names the columns for the elements of composite attributes.
    ///
    /// Core Data has one for each element, and nothing shows its name. An existing store has it if one of its other columns has the
    /// element's name, with or without that of the attribute.
    private mutating func nameElementColumns(_ taken: inout [Int: Set<String>]) {
        for position in descriptions.indices {
            for index in attributes[position].indices
            where attributes[position][index].isElement && !attributes[position][index].isTransient {
                let name = attributes[position][index].name
                let parts = name.uppercased().split(separator: ".")
                let bases = ["Z\(parts.last ?? "")", "Z\(parts.joined())", "Z\(parts.joined(separator: "_"))"]
                let root = roots[position]
                var column: String?
                if let stored = storedColumns[table(position)] {
                    let free = stored.subtracting(taken[root, default: []])
                    column =
                        bases.lazy.compactMap { base in
                            free.filter { $0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber) }.min()
                        }.first
                    column.map { _ = taken[root, default: []].insert($0) }
                } else {
                    column = Self.claim(bases[0], &taken[root, default: ["Z_PK", "Z_ENT", "Z_OPT"]])
                }
                if let column {
                    columnNames[ColumnID(entity: descriptions[position].name, property: name)] = column
                } else {
                    attributes[position][index].isTransient = true
                    unlocatedComposites.append("\(descriptions[position].name).\(name.prefix { $0 != "." })")
                }
            }
        }
    }

    /// Names the columns of to-many relationships without an inverse: `Z2LIKES` in the table of entity 2, to which `likes` leads.
    ///
    /// - Parameter taken: The names that the roots' tables have.
    private mutating func nameOwnerColumns(_ taken: inout [Int: Set<String>]) {
        for (position, entity) in descriptions.enumerated() {
            for relationship in relationships[position] where relationship.hasOwnerColumn {
                guard let destination = positions[relationship.destination] else { continue }
                let name = relationship.name.uppercased()
                var column: String?
                if let stored = storedColumns[table(destination)] {
                    // Another program can have numbered it otherwise.
                    let free = stored.subtracting(taken[roots[destination], default: []])
                    let usual = "Z\(numbers[destination])\(name)"
                    let fitting = free.filter { $0.trimmingPrefix(/Z[0-9]+/) == name && $0 != "Z" + name }
                    column = fitting.contains(usual) ? usual : fitting.min()
                    column.map { _ = taken[roots[destination], default: []].insert($0) }
                } else {
                    column = Self.claim("Z\(numbers[destination])\(name)", &taken[roots[destination], default: []])
                }
                ownerColumnNames[ColumnID(entity: entity.name, property: relationship.name)] = column
                guard let table = memberTable(position, relationship) else { continue }
                ownerColumnsByMember[destination, default: []].append(
                    (table.sourceColumn, relationship.isOrdered ? table.orderColumn : nil))
            }
        }
    }

    /// Names the columns of join tables for the entity whose keys they store and the relationship to it.
    ///
    /// Core Data numbers them by entity: if `Reaction.users` and `Message.users` both lead to entity 24, its relationship that
    /// comes first has `Z_24USERS` in its table, and the other one `Z_24USERS1` in another table.
    mutating func nameJoinColumns() {
        for (position, entity) in descriptions.enumerated() {
            var taken: Set<String> = []
            for relationship in relationships[position] where isManyToMany(relationship) {
                guard let inverse = inverse(of: relationship) else { continue }
                joinColumns[ColumnID(entity: entity.name, property: relationship.name)] =
                    Self.claim("Z_\(numbers[position])\(inverse.name.uppercased())", &taken)
            }
        }
    }

    /// Takes a name that is free, with a number appended if necessary.
    private static func claim(_ base: String, _ taken: inout Set<String>) -> String {
        var name = base
        var count = 0
        while !taken.insert(name).inserted {
            count += 1
            name = base + String(count)
        }
        return name
    }
}

extension AttributeDescription {
    /// Whether it belongs to a composite attribute, whose name it has before its own.
    fileprivate var isElement: Bool { name.contains(".") }
}
