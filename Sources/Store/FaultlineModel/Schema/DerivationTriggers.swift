/// The triggers that update derived attributes, modelled on Core Data's.
///
/// They report every row that they change by calling a function of the connection, which lets objects show the change:
/// `NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT)`. The triggers for
/// counts are identical to Core Data's; the others follow their pattern.
package struct DerivationTriggers {
    /// `CREATE TRIGGER` statements.
    package private(set) var statements: [String] = []
    /// The table of the attribute that each statement updates.
    private var tables: [String] = []
    /// Attributes with expressions that the store cannot compute: entity, attribute, expression.
    package private(set) var unsupported: [(entity: String, attribute: String, expression: String)] = []

    /// The values that rows get which existed before their attribute was derived.
    package private(set) var values: [DerivedValue] = []

    /// The expression for a derived attribute's value in each row that has it.
    package struct DerivedValue: Sendable {
        package let entity: EntitySchema
        package let property: PropertySchema
        /// An SQL expression on a row of the entity's table.
        package let sql: String
        /// The columns that it reads, as `TABLE.COLUMN`, without those of relationships.
        package var sources: Set<String> = []
    }

    private let entities: [EntitySchema]

    package init(_ schema: ModelSchema) {
        entities = schema.entities
        for entity in entities {
            let inherited = entity.parent.map { entities[$0].properties.count } ?? 0
            for property in entity.properties[inherited...] where !property.isTransient {
                guard let text = property.derivation else { continue }
                guard let expression = DerivationExpression(text), add(expression, property, entity) else {
                    unsupported.append((entity.name, property.name, text))
                    continue
                }
                tables += repeatElement(entity.table, count: statements.count - tables.count)
            }
        }
    }

    /// Returns the statements for the attributes of some entities.
    ///
    /// - Parameter wanted: The entities' tables; `nil` for all.
    package func statements(forTables wanted: Set<String>?) -> [String] {
        zip(tables, statements).filter { wanted?.contains($0.0) != false }.map(\.1)
    }

    /// Adds the triggers of an expression; returns whether everything that it names exists.
    private mutating func add(
        _ expression: DerivationExpression, _ property: PropertySchema, _ entity: EntitySchema
    ) -> Bool {
        let target = Target(property, entity, entities)
        switch expression {
        case .now:
            // Seconds since 2001-01-01 00:00 UTC, the Julian day 2451910.5. Every save increments Z_OPT.
            guard property.attributeType == .date else { return false }
            let now = "(julianday('now') - 2451910.5) * 86400.0"
            let own = "Z_PK = NEW.Z_PK"
            values.append(DerivedValue(entity: entity, property: property, sql: now))
            statements += [
                target.trigger("INSERT", "AFTER INSERT ON \(target.table)", now, own, isInsert: true),
                target.trigger("UPDATE", "AFTER UPDATE OF Z_OPT ON \(target.table)", now, own),
            ]
        case .value(nil, let name, let function):
            guard let source = entity.property(name), name != property.name, source.attributeType != nil,
                !source.isTransient, Self.isText(source) || function == nil
            else { return false }
            let (value, own) = (Self.call(function, "NEW.\(source.column)"), "Z_PK = NEW.Z_PK")
            values.append(
                DerivedValue(
                    entity: entity, property: property, sql: Self.call(function, source.column),
                    sources: ["\(entity.table).\(source.column)"]))
            statements += [
                target.trigger("INSERT", "AFTER INSERT ON \(target.table)", value, own, isInsert: true),
                target.trigger("UPDATE", "AFTER UPDATE OF \(source.column) ON \(target.table)", value, own),
            ]
        case .value(let relationship?, let name, let function):
            guard let key = entity.property(relationship), key.kind == .toOne, !key.isTransient,
                let source = entities[key.destination].property(name), source.attributeType != nil,
                !source.isTransient, Self.isText(source) || function == nil
            else { return false }
            let table = entities[key.destination].table
            addReached(target, key.column, table, source.column, function)
            let found = "(SELECT d.\(source.column) FROM \(table) d WHERE d.Z_PK = \(entity.table).\(key.column))"
            values.append(
                DerivedValue(
                    entity: entity, property: property, sql: Self.call(function, found),
                    sources: ["\(table).\(source.column)"]))
        case .count(let name):
            guard let relationship = entity.property(name), relationship.isToMany, let ends = ends(relationship)
            else { return false }
            addCount(target, ends)
            let count = "(SELECT COUNT(*) FROM \(ends.table) d WHERE d.\(ends.key) = \(entity.table).Z_PK)"
            values.append(DerivedValue(entity: entity, property: property, sql: count))
        case .sum(let name, let attribute):
            guard let relationship = entity.property(name), relationship.isToMany, let ends = ends(relationship),
                let source = entities[relationship.destination].property(attribute), !source.isTransient,
                Self.isNumber(source)
            else { return false }
            addSum(target, relationship, ends, source)
            values.append(
                DerivedValue(
                    entity: entity, property: property, sql: sum("\(entity.table).Z_PK", relationship, ends, source),
                    sources: ["\(entities[relationship.destination].table).\(source.column)"]))
        }
        return true
    }

    private static func isText(_ property: PropertySchema) -> Bool { property.attributeType == .string }

    private static func isNumber(_ property: PropertySchema) -> Bool {
        switch property.attributeType {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: true
        default: false
        }
    }

    private static func call(_ function: DerivationExpression.Function?, _ value: String) -> String {
        switch function {
        case .canonical: "FaultlineCanonical(\(value))"
        case .uppercase: "FaultlineUppercase(\(value))"
        case .lowercase: "FaultlineLowercase(\(value))"
        case nil: value
        }
    }

    // MARK: - Kinds of expressions

    /// A value at the other end of a to-one relationship, which changes with the key and with the destination's row.
    private mutating func addReached(
        _ target: Target, _ key: String, _ table: String, _ column: String,
        _ function: DerivationExpression.Function?
    ) {
        let found = Self.call(function, "(SELECT \(column) FROM \(table) WHERE Z_PK = NEW.\(key))")
        let (own, others) = ("Z_PK = NEW.Z_PK", "\(key) = NEW.Z_PK")
        let value = Self.call(function, "NEW.\(column)")
        statements += [
            target.trigger("SOURCE_INSERT", "AFTER INSERT ON \(target.table)", found, own, isInsert: true),
            target.trigger("SOURCE_UPDATE", "AFTER UPDATE OF \(key) ON \(target.table)", found, own),
            target.trigger("PARAMETER_INSERT", "AFTER INSERT ON \(table)", value, others, on: table),
            target.trigger("PARAMETER_UPDATE", "AFTER UPDATE OF \(column) ON \(table)", value, others, on: table),
            target.trigger("PARAMETER_DELETE", "AFTER DELETE ON \(table)", "NULL", "\(key) = OLD.Z_PK", on: table),
        ]
    }

    private typealias Ends = (table: String, key: String)

    /// The table that stores a to-many relationship, and its column for the owner's key; `nil` if it has no inverse.
    private func ends(_ relationship: PropertySchema) -> Ends? {
        if let join = relationship.joinTable { return (join.table, join.sourceColumn) }
        if relationship.isTransient { return nil }
        let destination = entities[relationship.destination]
        return relationship.inverse.map { (destination.table, destination.properties[$0].column) }
    }

    private mutating func addCount(_ target: Target, _ ends: Ends) {
        let (table, key) = ends
        let column = target.column
        func step(_ part: String, _ event: String, _ row: String, _ value: String) -> String {
            target.trigger(
                part, "\(event) ON \(table)", value, "Z_PK = \(row).\(key)", on: table, when: "\(row).\(key) NOT NULL")
        }
        statements += [
            step("PARAMETER_INSERT", "AFTER INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            step("PARAMETER_UPDATE_INCREMENT", "AFTER UPDATE OF \(key)", "NEW", "\(column) + 1"),
            step("PARAMETER_UPDATE_DECREMENT", "AFTER UPDATE OF \(key)", "OLD", "\(column) - 1"),
            step("PARAMETER_DELETE", "AFTER DELETE", "OLD", "\(column) - 1"),
            target.trigger(
                "SOURCE_INSERT", "AFTER INSERT ON \(target.table)",
                "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(table) WHERE \(key) = NEW.Z_PK)", "Z_PK = NEW.Z_PK",
                isInsert: true),
        ]
    }

    /// Sums are recomputed from the members, because adding and subtracting would accumulate floating-point errors.
    private mutating func addSum(
        _ target: Target, _ relationship: PropertySchema, _ ends: Ends, _ source: PropertySchema
    ) {
        let (table, key) = ends
        let members = entities[relationship.destination].table
        func sum(_ owner: String) -> String { self.sum(owner, relationship, ends, source) }
        func step(_ part: String, _ event: String, _ row: String) -> String {
            target.trigger(
                part, event, sum("\(row).\(key)"), "Z_PK = \(row).\(key)", on: table, when: "\(row).\(key) NOT NULL")
        }
        statements += [
            step("PARAMETER_INSERT", "AFTER INSERT ON \(table)", "NEW"),
            step("PARAMETER_DELETE", "AFTER DELETE ON \(table)", "OLD"),
            target.trigger(
                "SOURCE_INSERT", "AFTER INSERT ON \(target.table)", sum("NEW.Z_PK"), "Z_PK = NEW.Z_PK", isInsert: true),
        ]
        if let join = relationship.joinTable, !join.isOfMembers {
            let owners = "Z_PK IN (SELECT \(key) FROM \(table) WHERE \(join.destinationColumn) = NEW.Z_PK)"
            statements.append(
                target.trigger(
                    "PARAMETER_UPDATE", "AFTER UPDATE OF \(source.column) ON \(members)",
                    sum("\(target.table).Z_PK"), owners, on: members))
        } else {
            let event = "AFTER UPDATE OF \(key), \(source.column) ON \(table)"
            statements += [
                step("PARAMETER_UPDATE_INCREMENT", event, "NEW"), step("PARAMETER_UPDATE_DECREMENT", event, "OLD"),
            ]
        }
    }

    /// The sum over the members of the row whose key an expression gives.
    private func sum(
        _ owner: String, _ relationship: PropertySchema, _ ends: Ends, _ source: PropertySchema
    ) -> String {
        let (table, key) = ends
        guard let join = relationship.joinTable else {
            return "(SELECT IFNULL(SUM(s.\(source.column)), 0) FROM \(table) s WHERE s.\(key) = \(owner))"
        }
        let members = entities[relationship.destination].table
        return
            "(SELECT IFNULL(SUM(m.\(source.column)), 0) FROM \(table) j JOIN \(members) m ON m.Z_PK = j.\(join.destinationColumn) WHERE j.\(key) = \(owner))"
    }

    /// The derived attribute.
    private struct Target {
        let table: String
        let column: String
        private let entity: String
        private let name: String
        /// The `Z_ENT` of rows that have the attribute, if other rows of the table do not.
        private let family: [Int64]?

        init(_ property: PropertySchema, _ entity: EntitySchema, _ entities: [EntitySchema]) {
            table = entity.table
            column = property.column
            name = property.name
            self.entity = entity.name
            family = entity.parent == nil ? nil : entity.family.map { entities[$0].number }
        }

        /// Returns one trigger: after an event, it updates the attribute in the rows that a condition selects.
        ///
        /// - Parameters:
        ///   - source: The table of the event; by default the attribute's own.
        ///   - isInsert: Whether the updated row is the one being inserted.
        func trigger(
            _ part: String, _ event: String, _ value: String, _ rows: String, on source: String? = nil,
            when: String? = nil, isInsert: Bool = false
        ) -> String {
            var condition = when
            if source == nil, let family {
                condition = "NEW.Z_ENT IN (\(family.map { String($0) }.joined(separator: ", ")))"
            }
            let notice = isInsert ? "InsertUpdated" : "Updated"
            return
                "CREATE TRIGGER Z_DA_\(source ?? table)_\(entity)_\(name)_\(part) \(event) FOR EACH ROW \(condition.map { "WHEN (\($0)) " } ?? "")BEGIN UPDATE \(table) SET \(column) = \(value) WHERE \(rows); SELECT NSCoreDataDATrigger\(notice)AffectedObjectValue('\(table)', Z_ENT, Z_PK, '\(name)', \(column)) FROM \(table) WHERE \(rows); END"
        }
    }
}
