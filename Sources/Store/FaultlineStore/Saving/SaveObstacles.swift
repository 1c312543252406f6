import CSQLite
import FaultlineModel

/// The reasons why a store cannot be saved to, because a save would leave it inconsistent.
///
/// Determined before the first save, so an incomplete save never begins.
struct SaveObstacles {
    /// The reason that applies to every save.
    private var general: String?
    /// The reasons that apply to saves that write to a table.
    private var byTable: [String: String] = [:]
    private let path: String

    init(_ store: SQLStore) throws(StoreError) {
        path = store.path
        // Stores created by this library contain nothing unknown.
        guard store.isForeign else {
            if store.hasUntrackedHistory, !store.description.ignoresPersistentHistory { general = Self.history }
            return
        }
        var triggers: [String] = []
        var hasHistory = false
        let statement = try store.writer.sqlite.statement(
            "SELECT name, type FROM sqlite_master WHERE type = 'trigger' OR name = 'ATRANSACTION'")
        try store.writer.session.readAsEvent(statement, doing: "Saving") { row in
            let name = sqlite3_column_text(row, 0).map { String(cString: $0) } ?? ""
            if name == "ATRANSACTION" { hasHistory = true } else { triggers.append(name) }
        }
        if hasHistory, store.history == nil, !store.description.ignoresPersistentHistory {
            general = Self.history
            return
        }
        for entity in store.schema.entities {
            for property in entity.properties where property.isDerived && !property.isTransient {
                let isOwn = entity.parent.map { store.schema.entities[$0].index(of: property.name) == nil } ?? true
                let part = "_\(entity.name)_\(property.name)_"
                guard isOwn, !triggers.contains(where: { $0.hasPrefix("Z_DA_") && $0.contains(part) }) else { continue }
                general =
                    "because '\(entity.name).\(property.name)' is derived, but none of its triggers computes it; save it with Core Data, or do not derive the attribute"
                return
            }
        }
        let tables =
            store.schema.entities.map(\.table)
            + store.schema.entities.flatMap(\.properties).compactMap(\.joinTable?.table)
        for table in Set(tables) { byTable[table] = try Self.problem(table, store) }
    }

    private static let history =
        "because the store keeps a history of its changes (table ATRANSACTION), in which this one would be missing; set tracksPersistentHistory, or ignoresPersistentHistory if nothing reads the history"

    /// SQLite's message if statements that write to a table, including their triggers, cannot be prepared.
    private static func problem(_ table: String, _ store: SQLStore) throws(StoreError) -> String? {
        var columns: [String] = []
        let list = try store.writer.sqlite.statement("pragma table_info(\(table))")
        try store.writer.session.readAsEvent(list, doing: "Saving") { row in
            columns.append(sqlite3_column_text(row, 1).map { String(cString: $0) } ?? "")
        }
        let sets = columns.map { "\"\($0)\" = \"\($0)\"" }.joined(separator: ", ")
        for sql in ["INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(sets)", "DELETE FROM \(table)"] {
            guard let detail = store.writer.sqlite.problem(preparing: sql) else { continue }
            return
                "because its table \(table) has a trigger or an index that cannot run here (\(detail)); save it with Core Data"
        }
        return nil
    }

    /// Checks that a save may write to some tables.
    ///
    /// - Throws: ``StoreError`` if it may not.
    func check(_ tables: some Sequence<String>) throws(StoreError) {
        guard let reason = general ?? tables.lazy.compactMap({ byTable[$0] }).first else { return }
        throw StoreError(.unsupportedStore, "Saving in '\(path)' is refused \(reason).")
    }
}
