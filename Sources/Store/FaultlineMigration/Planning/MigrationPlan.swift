import FaultlineModel
import FaultlineStore
import FaultlineTrace

/// The statements that make a store of one model version a store of another, within one transaction.
struct MigrationPlan {
    /// The kind of work that a statement does.
    enum Stage: String {
        /// Removing triggers, indexes and tables, and reading keys that would be lost.
        case prepare
        /// Changing and copying tables.
        case rows
        /// Computing derived attributes.
        case derive
        /// Creating indexes and triggers.
        case index
        /// Writing the new version.
        case finish
    }

    struct Statement {
        let stage: Stage
        /// The table of the newer version that the statement is for; empty if it is for none or several.
        let table: String
        let sql: String

        /// The part of the migration to which the statement's time belongs in a trace.
        var part: TraceEvent.Migration.Stage {
            switch stage {
            case .prepare, .rows, .finish: .rows
            case .derive: .derive
            case .index: .index
            }
        }
    }

    let statements: [Statement]
    /// The conditions that rows must meet.
    let checks: [RowCheck]
    /// The queries for columns that may name files of large values that no row refers to afterward.
    let fileQueries: [String]
    /// The columns and tables to remove later.
    let deferred: [DeferredDrop]
    let pairs: EntityPairs

    /// Plans a migration.
    ///
    /// - Parameters:
    ///   - path: The store's file, for messages.
    ///   - old: The version that the store has.
    ///   - new: The version that it will have.
    ///   - rules: The entities and properties that continue.
    ///   - lastKeys: The largest key of each table.
    ///   - defers: Whether removed columns and tables are left behind.
    ///   - pending: The columns and tables that earlier migrations left.
    init(
        for path: String, from old: StoreVersion, to new: StoreVersion, _ rules: MigrationRules,
        _ structure: StoreStructure,
        lastKeys: [String: Int64], deferring defers: Bool = false, pending: [DeferredDrop] = []
    ) throws(StoreError) {
        var pairs = EntityPairs(rules.links, from: old, to: new)
        pairs.separateKeys(lastKeys)
        self.pairs = pairs
        let tables = new.tables
        let triggers = DerivationTriggers(new.schema)
        let target = try StoreStructure(creating: new.schema.statements(forTables: tables))

        var keys = KeyTables()
        var values: [Int: RowValues] = [:]
        for pair in pairs.pairs { values[pair.old.index] = try RowValues(pair, pairs, &keys, path: path) }
        let joins = Self.joinTables(new, target, pairs, structure)
        let plans = pairs.newTables.sorted().compactMap { name in
            target.tables[name].map { TablePlan($0, pairs, structure, values, deferring: defers) }
        }
        let kept = Self.keptTables(plans, joins, target)
        let gone = Self.oldTables(old, structure).filter { kept[$0] == nil }
        let copied = Set(plans.filter { !$0.isInPlace }.flatMap(\.sources))
        let indexes = IndexPlan(structure, target, kept: kept, gone: gone)

        var all: [Statement] = []
        func add(_ stage: Stage, _ texts: [String], for table: String = "") {
            all += texts.map { Statement(stage: stage, table: table, sql: $0) }
        }
        let affected = gone.union(kept.keys)
        let own = structure.triggers.filter { affected.contains($0.table) || $0.name.hasPrefix("Z_DA_") }
        add(.prepare, own.map { "DROP TRIGGER \(StoreSetup.quoted($0.name))" })
        add(.prepare, Self.completions(pairs.pairs.flatMap { values[$0.old.index]?.entityColumns ?? [] }))
        add(.prepare, keys.statements)
        for join in joins { add(.rows, join.statements, for: join.table) }
        add(.prepare, indexes.removals)
        // Columns that were left behind are removed or left again with their tables.
        let left = pending.filter { $0.column == nil && structure.tables[$0.table] != nil }
        let removed = gone.subtracting(copied).sorted()
        let renamed = defers ? removed.map { DeferredDrop(table: $0) } : []
        add(.prepare, (defers ? left.filter(renamed.contains) : left).map(\.sql))
        add(
            .prepare,
            defers
                ? zip(removed, renamed).map { "ALTER TABLE \($0) RENAME TO \($1.table)" }
                : removed.map { "DROP TABLE \($0)" })
        deferred =
            plans.flatMap(\.deferred) + (defers ? left.filter { !renamed.contains($0) } + renamed : [])
        add(.prepare, copied.sorted().map { "ALTER TABLE \($0) RENAME TO \(TablePlan.oldName(of: $0))" })
        for plan in plans { add(.rows, plan.statements, for: plan.table) }
        add(.rows, copied.sorted().map { "DROP TABLE \(TablePlan.oldName(of: $0))" })
        add(
            .rows,
            joins.filter { !$0.isInPlace }.map {
                "ALTER TABLE \(JoinTablePlan.newName(of: $0.table)) RENAME TO \($0.table)"
            })
        add(.prepare, keys.removal)
        let isChanged = all.contains { $0.stage == .rows } || !gone.isEmpty
        for value in Self.ordered(triggers.values) where tables?.contains(value.entity.table) != false {
            guard Self.needsValue(value, pairs, isChanged: isChanged) else { continue }
            let numbers = value.entity.family.map { String(new.schema.entities[$0].number) }.joined(separator: ", ")
            let condition = value.entity.isInTree ? " WHERE Z_ENT IN (\(numbers))" : ""
            add(
                .derive, ["UPDATE \(value.entity.table) SET \(value.property.column) = \(value.sql)\(condition)"],
                for: value.entity.table)
        }
        if structure.tables["ACHANGE"] != nil {
            add(.finish, Self.descriptions(pairs, old.model, new.model, structure) + Self.history(pairs))
        }
        for index in indexes.creations { add(.index, [index.sql], for: index.table) }
        add(.index, triggers.statements(forTables: tables))
        // Triggers that do not compute derived attributes, for this library or Core Data, are the program's own.
        add(.index, own.filter { !$0.name.hasPrefix("Z_DA_") }.map(\.sql))
        statements = all
        checks = RowCheck.checks(rules.conditions, pairs, values)
        fileQueries = Self.fileQueries(pairs, old)
    }

    /// The statements that adapt the history to the properties of new versions of entities.
    ///
    /// The history identifies properties by their positions.
    private static func descriptions(
        _ pairs: EntityPairs, _ old: ManagedObjectModel, _ new: ManagedObjectModel, _ structure: StoreStructure
    ) -> [String] {
        let known = Set(structure.tables["ACHANGE"]?.columns.map(\.name) ?? [])
        var width = 0
        while known.contains(StoreHistory.tombstoneColumn(width)) { width += 1 }
        var statements: [String] = []
        for pair in pairs.pairs {
            let entity = "WHERE ZENTITY = \(pair.old.number)"
            let before = StoreHistory.propertyNames(of: pair.old.name, in: old)
            let after = StoreHistory.propertyNames(of: pair.new.name, in: new)
            // SQL cannot rearrange the bits of a blob, so it becomes unknown which properties changed.
            if after.map({ pair.names[$0] }) != before {
                statements.append("UPDATE ACHANGE SET ZCOLUMNS = NULL \(entity)")
            }
            let kept = StoreHistory.tombstoneNames(of: pair.old.name, in: old)
            let wanted = StoreHistory.tombstoneNames(of: pair.new.name, in: new)
            let sources = wanted.map { name in pair.names[name].flatMap { kept.firstIndex(of: $0) } }
            guard sources != Array(kept.indices) else { continue }
            while width < wanted.count {
                statements.append("ALTER TABLE ACHANGE ADD COLUMN \(StoreHistory.tombstoneColumn(width)) BLOB")
                width += 1
            }
            let sets = (0..<min(width, max(kept.count, wanted.count))).map { place in
                let source = place < sources.count ? sources[place] : nil
                let value = source.flatMap { $0 < width ? StoreHistory.tombstoneColumn($0) : nil } ?? "NULL"
                return "\(StoreHistory.tombstoneColumn(place)) = \(value)"
            }
            statements.append("UPDATE ACHANGE SET \(sets.joined(separator: ", ")) \(entity)")
        }
        return statements
    }

    /// The statements that update the entities and keys in Core Data's history and delete the history of removed entities.
    private static func history(_ pairs: EntityPairs) -> [String] {
        func choice(_ value: (EntityPair) -> Int64?) -> String {
            pairs.pairs.compactMap { pair in value(pair).map { " WHEN \(pair.old.number) THEN \($0)" } }.joined()
        }
        let known = pairs.pairs.map { String($0.old.number) }.joined(separator: ", ")
        let moved = choice { pair in
            let offset = pairs.offset(from: pair.old.table, to: pair.new.table)
            return offset == 0 ? nil : offset
        }
        let key = moved.isEmpty ? "" : ", ZENTITYPK = ZENTITYPK + CASE ZENTITY\(moved) ELSE 0 END"
        return [
            "DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(known))",
            "UPDATE ACHANGE SET ZENTITY = CASE ZENTITY\(choice(\.new.number)) END\(key)",
        ]
    }

    /// Returns the plans of the newer version's join tables, one for each relationship.
    private static func joinTables(
        _ new: StoreVersion, _ target: StoreStructure, _ pairs: EntityPairs, _ structure: StoreStructure
    ) -> [JoinTablePlan] {
        func plans(shared: Set<String>) -> [JoinTablePlan] {
            var seen: Set<String> = []
            var plans: [JoinTablePlan] = []
            for entity in new.storedEntities {
                for property in entity.properties {
                    guard let join = property.joinTable, !join.isOfMembers, let table = target.tables[join.table],
                        seen.insert(join.table).inserted
                    else { continue }
                    plans.append(JoinTablePlan(table, property, of: entity, pairs, structure, shared: shared))
                }
            }
            return plans
        }
        var uses: [String: Int] = [:]
        for table in plans(shared: []).flatMap(\.sources) { uses[table, default: 0] += 1 }
        let plans = plans(shared: Set(uses.filter { $0.value > 1 }.keys))
        // Those that are copied read the tables of those that are changed.
        return plans.filter { !$0.isInPlace } + plans.filter(\.isInPlace)
    }

    private static func keptTables(
        _ plans: [TablePlan], _ joins: [JoinTablePlan], _ target: StoreStructure
    ) -> [String: IndexPlan.KeptTable] {
        var kept: [String: IndexPlan.KeptTable] = [:]
        func keep(_ source: String, _ table: String, _ renamed: [String: String], _ assigned: Set<String>) {
            kept[source] = IndexPlan.KeptTable(
                newName: table, renamed: renamed, assigned: assigned,
                columns: Set(target.tables[table]?.columns.map(\.name) ?? []))
        }
        for plan in plans where plan.isInPlace { keep(plan.sources[0], plan.table, plan.renamed, plan.assigned) }
        for join in joins where join.isInPlace { keep(join.sources.first!, join.table, join.renamed, []) }
        return kept
    }

    /// The tables and join tables of the older version that exist.
    private static func oldTables(_ old: StoreVersion, _ structure: StoreStructure) -> Set<String> {
        let joins = old.storedEntities.flatMap(\.properties).compactMap(\.joinTable?.table)
        return Set(old.storedEntities.map(\.table) + joins).intersection(structure.tables.keys)
    }

    /// Fills in the entities of referenced objects where another program left them out.
    private static func completions(_ columns: [RowValues.EntityColumn]) -> [String] {
        var seen: Set<RowValues.EntityColumn> = []
        return columns.filter { seen.insert($0).inserted }.map {
            "UPDATE \($0.table) SET \($0.column) = (SELECT d.Z_ENT FROM \($0.destination) d WHERE d.Z_PK = \($0.table).\($0.key)) WHERE \($0.key) IS NOT NULL AND \($0.column) IS NULL"
        }
    }

    /// Whether the rows may have other values than the attribute's expression gives.
    ///
    /// - Parameter isChanged: Whether other values of the rows change.
    private static func needsValue(
        _ value: DerivationTriggers.DerivedValue, _ pairs: EntityPairs, isChanged: Bool
    ) -> Bool {
        let family = Set(value.entity.family)
        let owners = pairs.pairs.filter { family.contains($0.new.index) }
        // The time of the last save does not follow from the other values.
        let isTime = value.property.derivation.flatMap { DerivationExpression($0) } == .now
        let isCurrent = owners.allSatisfy { $0.source(of: value.property)?.derivation == value.property.derivation }
        return !owners.isEmpty && !(isCurrent && (isTime || !isChanged))
    }

    /// Orders derived attributes after those that they are derived from.
    private static func ordered(_ values: [DerivationTriggers.DerivedValue]) -> [DerivationTriggers.DerivedValue] {
        var rest = values
        var ordered: [DerivationTriggers.DerivedValue] = []
        while !rest.isEmpty {
            let waiting = Set(rest.map { "\($0.entity.table).\($0.property.column)" })
            let ready = rest.filter { waiting.isDisjoint(with: $0.sources) }
            // Attributes that are derived from each other have no order.
            guard !ready.isEmpty else { return ordered + rest }
            ordered += ready
            rest = rest.filter { !waiting.isDisjoint(with: $0.sources) }
        }
        return ordered
    }

    private static func fileQueries(_ pairs: EntityPairs, _ old: StoreVersion) -> [String] {
        let byOld = Dictionary(uniqueKeysWithValues: pairs.pairs.map { ($0.old.index, $0) })
        var queries: [String] = []
        for entity in old.schema.entities where old.has(entity.name) && !entity.isAbstract {
            let kept = byOld[entity.index].map { pair in
                pair.new.properties.filter { $0.isExternal && !$0.isTransient }.compactMap { pair.names[$0.name] }
            }
            for property in entity.properties where property.isExternal && !property.isTransient {
                if kept?.contains(property.name) == true { continue }
                queries.append(
                    "SELECT \(property.column) FROM \(entity.table) WHERE Z_ENT = \(entity.number) AND substr(\(property.column), 1, 1) = x'02'"
                )
            }
        }
        return queries
    }
}
