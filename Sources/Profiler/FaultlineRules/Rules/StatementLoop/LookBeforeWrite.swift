internal import FaultlineFindings
internal import FaultlineProfile

/// The advice for a loop that looks for a row, and then inserts or updates it.
///
/// One statement for all look-ups would not see the rows that the loop inserts.
struct LookBeforeWrite {
    private let table: String
    /// The columns by which the row is looked for.
    private let columns: [String]
    private let evidence: StatementLoopEvidence

    /// - Returns: `nil` if the writes do not follow most look-ups.
    init?(_ statement: StatementText, _ evidence: StatementLoopEvidence) {
        guard Significance.isAtLeastHalf(evidence.insertions &+ evidence.updates, of: evidence.executions),
            let table = statement.table, statement.looksUpRows(evidence.runs), !statement.isAggregated,
            // A program that inserts a row although it has found one does not look for that row.
            evidence.insertions <= evidence.executions &- min(evidence.rows, evidence.executions)
        else { return nil }
        self.table = table
        self.evidence = evidence
        columns = statement.conditions.equalities.map(\.name).uniqued
    }

    private var inserts: Bool { evidence.insertions > 0 }

    var title: Wording {
        inserts
            ? "Write to \(entity: table) with an upsert, without looking for each row first"
            : "Change the rows of \(entity: table) without reading each one first"
    }

    var fix: Wording {
        inserts
            ? "SQLite looks for the row itself, and needs a unique index on \(Wording.properties(columns))."
            : "UPDATE can compute new values from old ones, and RETURNING returns them."
    }

    var explanation: Wording {
        let writes = evidence.insertions &+ evidence.updates
        return "A write to the same table followed \(count: writes, of: .count) of them."
    }

    func language(_ library: StatementLibrary?) -> String {
        guard let library, library != .python, library != .grdb else { return "sql" }
        return library.language
    }

    func code(_ library: StatementLibrary?) -> [String] {
        let names = columns.map(StatementText.quoted).joined(separator: ", "), source = StatementText.quoted(table)
        let model = StatementLibrary.modelName(of: table)
        guard inserts else {
            switch library {
            case .django?: return ["\(model).objects.filter(…).update(field=F(\"field\") + …)"]
            case .sqlAlchemy?: return ["session.execute(update(\(model)).where(…).values(field=\(model).field + …))"]
            case .peewee?: return ["\(model).update(field=\(model).field + …).where(…).execute()"]
            default:
                let condition = columns.map { "\(StatementText.quoted($0)) = ?" }.joined(separator: " AND ")
                return ["UPDATE \(source) SET … = … + ? WHERE \(condition) RETURNING …"]
            }
        }
        let texts = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        switch library {
        case .django?:
            return [
                "\(model).objects.bulk_create(objects, update_conflicts=True, unique_fields=[\(texts)], update_fields=[…])"
            ]
        case .sqlAlchemy?:
            return [
                "statement = sqlalchemy.dialects.sqlite.insert(\(model)).values(rows)",
                "session.execute(statement.on_conflict_do_update(index_elements=[\(texts)], set_={…}))",
            ]
        case .peewee?:
            let fields = columns.map { "\(model).\($0)" }.joined(separator: ", ")
            return ["\(model).insert_many(rows).on_conflict(conflict_target=[\(fields)], preserve=[…]).execute()"]
        default:
            return [
                "INSERT INTO \(source)(\(names), …) VALUES (?, …) ON CONFLICT(\(names)) DO UPDATE SET … = excluded.…"
            ]
        }
    }
}
