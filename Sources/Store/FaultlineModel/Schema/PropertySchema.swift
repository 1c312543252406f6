/// The layout of one property of an entity.
///
/// A class, because iterating over properties then copies only references.
package final class PropertySchema: Sendable {
    package enum Kind: Sendable, Hashable {
        case attribute(AttributeType)
        /// A foreign key in the entity's own row.
        case toOne
        /// The other side of a foreign key in the destination's rows.
        case toMany
        /// Rows of a join table, or of the members if there is no inverse.
        case manyToMany
    }

    package let name: String
    /// The index in the entity's properties, which is the same in entities that inherit the property.
    package let index: Int
    package let kind: Kind
    package let isOptional: Bool
    /// Whether the store has nothing of the property, which then lives in memory only.
    ///
    /// This includes a to-many relationship whose inverse is a transient to-one relationship.
    package let isTransient: Bool
    /// The expression from which the store computes the value; `nil` if the program sets it.
    package let derivation: String?
    package let defaultValue: AttributeValue?
    package let valueTransformerName: String?
    /// The limits that a save checks, or `nil`.
    package let limits: ValueLimits?
    package let isExternal: Bool
    package let declaredAt: String
    /// The column of an attribute or of a to-one relationship: `ZNAME`.
    package let column: String
    /// The column with the attribute's text without differences in case and diacritics, or `nil`.
    ///
    /// It belongs to an attribute derived from this one with `canonical:(…)`, or to this one if it is derived that way
    /// itself. It is also `nil` if another program computes it.
    package let canonicalColumn: String?
    /// The column for the entity of a to-one relationship's destination, if that has subentities: `Z3_OWNER`.
    package let entityColumn: String?
    /// The index in ``EntitySchema/columns``, or -1.
    package let slot: Int
    /// The index of ``entityColumn`` in ``EntitySchema/columns``, or -1.
    package let entitySlot: Int

    // Relationships.
    /// The index of the destination in ``ModelSchema/entities``, or -1.
    package let destination: Int
    /// The index of the inverse among the destination's properties; `nil` if there is none.
    package let inverse: Int?
    package let deleteRule: DeleteRule
    package let joinTable: JoinTableSchema?
    /// Whether the objects of a to-many relationship have an order.
    package let isOrdered: Bool
    /// The column that orders the objects of an ordered to-many relationship, in their rows or in the join table.
    package let orderColumn: String?
    /// The number of the relationship, which is the same in all entities that inherit it, or -1.
    package let relationshipNumber: Int

    init(
        name: String, index: Int, kind: Kind, isOptional: Bool, isTransient: Bool, derivation: String?,
        defaultValue: AttributeValue?, valueTransformerName: String?, limits: ValueLimits?, isExternal: Bool,
        declaredAt: String, column: String, canonicalColumn: String? = nil, entityColumn: String?,
        slot: Int, entitySlot: Int, destination: Int, inverse: Int?, deleteRule: DeleteRule,
        joinTable: JoinTableSchema?, isOrdered: Bool, orderColumn: String?, relationshipNumber: Int
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
        self.isOrdered = isOrdered
        self.orderColumn = orderColumn
        self.relationshipNumber = relationshipNumber
    }

    package var isRelationship: Bool {
        if case .attribute = kind { false } else { true }
    }

    package var isDerived: Bool { derivation != nil }

    package var isToMany: Bool { kind == .toMany || kind == .manyToMany }

    package var attributeType: AttributeType? {
        if case .attribute(let type) = kind { type } else { nil }
    }
}

/// The limits that a value must satisfy for an object to be saved.
package struct ValueLimits: Sendable, Hashable {
    /// The minimum and maximum value; for text, the length in characters.
    package var minimum: AttributeValue?
    package var maximum: AttributeValue?
    package var regularExpression: String?
    /// The minimum and maximum number of objects in a to-many relationship; 0 for no limit.
    package var minimumCount = 0
    package var maximumCount = 0

    var orNone: ValueLimits? { self == ValueLimits() ? nil : self }
}

/// The table with the pairs of a many-to-many relationship, seen from one of its sides; or of a to-many relationship without an
/// inverse, whose members have the key of their owner.
package struct JoinTableSchema: Sendable, Hashable {
    package let table: String
    /// The column with this side's keys.
    package let sourceColumn: String
    /// The column with the destination's keys.
    package let destinationColumn: String
    /// Whether it is the table of the destination itself, rather than a join table.
    package let isOfMembers: Bool

    /// The column that orders the destination's keys, if the relationship is ordered.
    package var orderColumn: String {
        if isOfMembers { return "Z_FOK_" + sourceColumn.dropFirst() }
        return "Z_FOK_" + (destinationColumn.hasPrefix("Z_") ? destinationColumn.dropFirst(2) : destinationColumn[...])
    }
}

/// A column that is read and written with an entity's rows.
package struct ColumnSchema: Sendable, Hashable {
    /// The form in which a row stores the column's value.
    package enum Storage: Sendable, Hashable {
        case integer, real, text, blob, decimal
    }

    package let name: String
    package let storage: Storage
    /// The index of the column's property.
    package let property: Int
    /// Whether the column stores the entity of a to-one relationship's destination rather than its key.
    package let isEntityColumn: Bool
}
