/// How one property of an entity is laid out.
///
/// A class, so that going over properties copies nothing but references.
package final class PropertySchema: Sendable {
    package enum Kind: Sendable, Hashable {
        case attribute(AttributeType)
        /// A foreign key in the entity's own row.
        case toOne
        /// The other side of a foreign key in the destination's rows.
        case toMany
        /// Rows of a join table.
        case manyToMany
    }

    package let name: String
    /// The place in the entity's properties, which subentities keep for what they inherit.
    package let index: Int
    package let kind: Kind
    package let isOptional: Bool
    package let isTransient: Bool
    /// The expression that the store works the value out from; `nil`: it is set.
    package let derivation: String?
    package let defaultValue: AttributeValue?
    package let valueTransformerName: String?
    /// `nil`: none.
    package let limits: ValueLimits?
    package let isExternal: Bool
    package let declaredAt: String
    /// The column of an attribute or of a to-one relationship: `ZNAME`.
    package let column: String
    /// The column that holds the attribute's text without regard to case and diacritics; `nil`: none.
    ///
    /// That of an attribute that is derived from it as `canonical:(…)`, or its own if it is derived so itself. Not where
    /// another program works it out.
    package let canonicalColumn: String?
    /// The column that says which entity a to-one relationship leads to, where that is not clear: `Z3_OWNER`.
    package let entityColumn: String?
    /// The place in ``EntitySchema/columns``, or -1.
    package let slot: Int
    /// The place of ``entityColumn`` in ``EntitySchema/columns``, or -1.
    package let entitySlot: Int

    // Relationships.
    /// The place of the destination in ``ModelSchema/entities``, or -1.
    package let destination: Int
    /// The place of the inverse among the destination's properties, or -1.
    package let inverse: Int
    package let deleteRule: DeleteRule
    package let joinTable: JoinTableSchema?
    /// The column that says in which order the objects at the other end of an ordered to-many relationship stand: in
    /// their rows, or in the join table.
    package let orderColumn: String?
    /// A number for the relationship that is the same in all entities that inherit it, or -1.
    package let relationshipNumber: Int

    init(
        name: String, index: Int, kind: Kind, isOptional: Bool, isTransient: Bool, derivation: String?,
        defaultValue: AttributeValue?, valueTransformerName: String?, limits: ValueLimits?, isExternal: Bool,
        declaredAt: String, column: String, canonicalColumn: String? = nil, entityColumn: String?,
        slot: Int, entitySlot: Int, destination: Int, inverse: Int, deleteRule: DeleteRule,
        joinTable: JoinTableSchema?, orderColumn: String?, relationshipNumber: Int
    ) {
        self.name = name
        self.index = index
        self.kind = kind
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.derivation = derivation
        self.defaultValue = defaultValue
        self.valueTransformerName = valueTransformerName
        self.limits = limits
        self.isExternal = isExternal
        self.declaredAt = declaredAt
        self.column = column
        self.canonicalColumn = canonicalColumn
        self.entityColumn = entityColumn
        self.slot = slot
        self.entitySlot = entitySlot
        self.destination = destination
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.joinTable = joinTable
        self.orderColumn = orderColumn
        self.relationshipNumber = relationshipNumber
    }

    package var isRelationship: Bool {
        if case .attribute = kind { false } else { true }
    }

    package var isDerived: Bool { derivation != nil }

    package var isOrdered: Bool { orderColumn != nil }

    package var isToMany: Bool { kind == .toMany || kind == .manyToMany }

    package var attributeType: AttributeType? {
        if case .attribute(let type) = kind { type } else { nil }
    }
}

/// What a value must keep to for an object to be saved.
package struct ValueLimits: Sendable, Hashable {
    /// The least and the greatest value; of text its length in characters.
    package var minimum: AttributeValue?
    package var maximum: AttributeValue?
    package var regularExpression: String?
    /// How many objects there may be at the other end of a to-many relationship; 0: not limited.
    package var minimumCount = 0
    package var maximumCount = 0

    var orNone: ValueLimits? { self == ValueLimits() ? nil : self }
}

/// The table that holds the pairs of a many-to-many relationship, seen from one of its sides.
package struct JoinTableSchema: Sendable, Hashable {
    package let table: String
    /// The column that holds this side's keys.
    package let sourceColumn: String
    /// The column that holds the destination's keys.
    package let destinationColumn: String

    /// The column that orders the destination's keys, where the relationship is ordered.
    package var orderColumn: String {
        "Z_FOK_" + (destinationColumn.hasPrefix("Z_") ? destinationColumn.dropFirst(2) : destinationColumn[...])
    }
}

/// A column that is read and written with an entity's rows.
package struct ColumnSchema: Sendable, Hashable {
    /// What a row keeps of the column.
    package enum Storage: Sendable, Hashable {
        case integer, real, text, blob, decimal
    }

    package let name: String
    package let storage: Storage
    /// The property that the column belongs to.
    package let property: Int
    /// Whether the column holds the entity of a to-one relationship's destination and not its key.
    package let isEntityColumn: Bool
}
