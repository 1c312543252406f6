import FaultlineModel
import FaultlineStore

/// A check of a store's rows that must pass before a migration changes anything.
struct RowCheck {
    /// A query for the primary keys of rows that fail, and the numbers of their older entities.
    let query: String
    /// Describes the failure, and the remedy.
    let message: @Sendable (Rows) -> String

    /// The rows that fail a check.
    struct Rows {
        /// The older entity of the example.
        let entity: String
        let count: Int
        let example: Int64

        /// The rows as part of a sentence, with an example.
        var phrase: String {
            count == 1
                ? "the \(entity) object with the primary key \(example)"
                : "\(count) \(entity) objects (one has the primary key \(example))"
        }

        /// The rows of several entities as part of a sentence.
        var mixedPhrase: String {
            count == 1 ? phrase : "\(count) objects (one is the \(entity) object with the primary key \(example))"
        }

        func verb(_ singular: String, _ plural: String) -> String { count == 1 ? singular : plural }
    }

    /// The checks for the conditions of rules, for relationships that would lose a required object, and for relationships that
    /// could keep only one of several objects.
    static func checks(
        _ conditions: [MigrationCondition], _ pairs: EntityPairs, _ values: [Int: RowValues]
    ) -> [RowCheck] {
        // Entities that inherit a constraint are checked together.
        var seen: Set<String> = []
        return
            (conditions.compactMap { check($0, pairs, values) } + lostReferences(pairs, values)
            + sharedReferences(pairs, values))
            .filter { seen.insert($0.query).inserted }
    }

    private static func check(
        _ condition: MigrationCondition, _ pairs: EntityPairs, _ values: [Int: RowValues]
    ) -> RowCheck? {
        guard let entity = pairs.old.entity(named: condition.sourceEntity), pairs.oldTables.contains(entity.table)
        else { return nil }
        let rows = "SELECT Z_PK, Z_ENT FROM \(entity.table) WHERE Z_ENT = \(entity.number)"
        let path = "\(condition.entity)\(condition.property.map { ".\($0)" } ?? "")"
        func column(_ name: String) -> String { entity.property(name)?.column ?? "NULL" }
        switch condition.requirement {
        case .noObjects:
            return RowCheck(query: rows) {
                "'\(path)' is new, required and without a default value, so \($0.phrase) would have no value; make it optional or give it a default value, or write a mapping model or a custom stage that sets it"
            }
        case .noObjectsOfAbstractEntity:
            return RowCheck(query: rows) {
                "the entity '\(path)' becomes abstract, but there \($0.verb("is", "are")) \($0.phrase); delete the objects or turn them into objects of a subentity in the older version first"
            }
        case .noMissingValues(let name):
            return RowCheck(query: "\(rows) AND \(column(name)) IS NULL") {
                "'\(path)' becomes required, but \($0.phrase) \($0.verb("has", "have")) no value; give it a default value, or set the values in the older version first"
            }
        case .valuesFit(let type, let name):
            guard let failure = failure(type, column(name)) else { return nil }
            return RowCheck(query: "\(rows) AND \(failure)") {
                "'\(path)' becomes \(type.rawValue), which cannot hold the values of \($0.phrase); change them in the older version first, or write a mapping model or a custom stage that converts it"
            }
        case .unique(let names):
            guard let query = duplicates(names, of: condition.entity, pairs, values) else { return nil }
            return RowCheck(query: query) {
                "\(names.map { name in "'\(condition.entity).\(name)'" }.joined(separator: " and ")) must be unique now, but another object has the same values as \($0.mixedPhrase); make the values distinct in the older version first, or write a custom stage that merges the objects"
            }
        }
    }

    /// The query for objects whose values another object of the table has too; an index covers all objects of a table.
    private static func duplicates(
        _ names: [String], of entity: String, _ pairs: EntityPairs, _ values: [Int: RowValues]
    ) -> String? {
        guard let new = pairs.new.entity(named: entity) else { return nil }
        let columns = names.map { new.property($0)?.column ?? "" }
        let selections = pairs.pairs.filter { $0.new.table == new.table }.compactMap { pair -> String? in
            let found = columns.compactMap { values[pair.old.index]?.values[$0]?.sql }
            // The keys of the other end are in no table yet.
            guard found.count == columns.count, !found.contains(where: { $0.contains("temp.") }) else { return nil }
            let selected = found.enumerated().map { "\($1) AS c\($0)" }.joined(separator: ", ")
            return "SELECT Z_PK, Z_ENT, \(selected) FROM \(pair.old.table) WHERE Z_ENT = \(pair.old.number)"
        }
        guard !selections.isEmpty else { return nil }
        let all = columns.indices.map { "c\($0)" }
        // NULLs differ from each other in a unique index.
        let present = all.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return
            "SELECT MAX(Z_PK) AS Z_PK, Z_ENT FROM (\(selections.joined(separator: " UNION ALL "))) WHERE \(present) GROUP BY \(all.joined(separator: ", ")) HAVING COUNT(*) > 1"
    }

    /// The condition for a value of a numeric column that another numeric type cannot hold.
    private static func failure(_ type: AttributeType, _ column: String) -> String? {
        func range(_ least: Int64, _ most: Int64) -> String {
            // A number is compared as it is, whether SQLite stores it as an integer or not.
            "(\(column) NOT BETWEEN \(least) AND \(most) OR \(column) <> CAST(\(column) AS INTEGER) OR typeof(\(column)) = 'blob')"
        }
        switch type {
        case .integer16: return range(Int64(Int16.min), Int64(Int16.max))
        case .integer32: return range(Int64(Int32.min), Int64(Int32.max))
        case .integer64: return range(-1 << 63 + 1, Int64.max)
        case .boolean: return range(0, 1)
        case .float: return "(abs(\(column)) > 3.4028234663852886e38 OR typeof(\(column)) = 'blob')"
        case .double: return "typeof(\(column)) = 'blob'"
        default: return nil
        }
    }

    private static func sharedReferences(_ pairs: EntityPairs, _ values: [Int: RowValues]) -> [RowCheck] {
        pairs.pairs.flatMap { values[$0.old.index]?.sharedReferences ?? [] }.map { shared in
            let numbers = shared.numbers.map(String.init).joined(separator: ", ")
            return RowCheck(
                query:
                    "SELECT MAX(Z_PK) AS Z_PK, Z_ENT FROM \(shared.table) WHERE \(shared.key) IS NOT NULL AND Z_ENT IN (\(numbers)) GROUP BY \(shared.key) HAVING COUNT(*) > 1"
            ) {
                "'\(shared.property)' can refer to one object, but \($0.mixedPhrase) \($0.verb("refers", "refer")) to an object that another one also refers to; leave one of them in the older version first, or write a mapping model or a custom stage that chooses"
            }
        }
    }

    private static func lostReferences(_ pairs: EntityPairs, _ values: [Int: RowValues]) -> [RowCheck] {
        pairs.pairs.flatMap { pair in
            (values[pair.old.index]?.lostReferences ?? []).map { lost in
                RowCheck(
                    query:
                        "SELECT Z_PK, Z_ENT FROM \(pair.old.table) WHERE Z_ENT = \(pair.old.number) AND \(lost.condition)"
                ) {
                    "'\(pair.new.name).\(lost.property)' is required, but the object that \($0.phrase) \($0.verb("refers", "refer")) to does not remain; delete the objects in the older version first, or make the relationship optional"
                }
            }
        }
    }
}
