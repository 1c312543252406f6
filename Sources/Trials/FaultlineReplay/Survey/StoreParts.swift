import FaultlineRules
import FaultlineStore
import FaultlineTrace

/// The tables of a store that hold no objects, grouped by purpose.
struct StoreParts {
    static let databaseName = "SQLite's own tables"

    private let isCoreData: Bool
    /// The virtual tables, each with the module that implements it.
    private var modules: [String: String] = [:]
    private var parts: [StoreFacts.Part] = []

    /// - Parameter virtualTables: The tables with the statements that created them.
    init(_ names: StoreNames?, virtualTables tables: [(name: String, sql: String)]) {
        isCoreData = names?.isCoreData ?? false
        for (name, sql) in tables {
            let words = sql.split { $0.isWhitespace || $0 == "(" }
            guard words.count > 4, words[0].uppercased() == "CREATE", words[1].uppercased() == "VIRTUAL",
                let using = words.firstIndex(where: { $0.uppercased() == "USING" }), using + 1 < words.count
            else { continue }
            modules[name] = words[using + 1].lowercased()
        }
    }

    /// The part a table belongs to, or `nil` if it holds objects or the program's rows.
    func part(ofTable name: String) -> StoreFacts.Part? {
        if name.hasPrefix("sqlite_") { return .init(.database, Self.databaseName) }
        // The shadow tables of a virtual table have its name as a prefix: notes_content, notes_idx.
        let owner = modules.keys.filter { name == $0 || name.hasPrefix($0 + "_") }.max { $0.count < $1.count }
        if let owner { return .init(.virtualTable, owner) }
        guard isCoreData else { return nil }
        if name.hasPrefix("ACHANGE") || name.hasPrefix("ATRANSACTION") { return .init(.history, "persistent history") }
        if name.hasPrefix("ANSCK") { return .init(.cloudKit, "CloudKit records") }
        let isKeys = name.hasPrefix("Z_") && !(name.dropFirst(2).first?.isNumber ?? false)
        return isKeys || name == PersistentStore.modelTable ? .init(.keys, "keys and metadata") : nil
    }

    /// Adds a table's rows and size to its part.
    mutating func add(_ part: StoreFacts.Part, rows: UInt64, size: UInt64) {
        let position = parts.firstIndex { ($0.kind, $0.name) == (part.kind, part.name) } ?? parts.count
        if position == parts.count { parts.append(part) }
        parts[position].tables += 1
        parts[position].rows += rows
        parts[position].size += size
    }

    /// All parts with contents, the largest first.
    func all(_ file: DatabaseFile) throws(ReplayError) -> [StoreFacts.Part] {
        var all = parts.filter { $0.size > 0 || $0.rows > 0 }
        for position in all.indices {
            if let module = modules[all[position].name] { all[position].name += " (\(module))" }
            guard all[position].kind == .history else { continue }
            let times = try? file.rows("SELECT max(ZTIMESTAMP) - min(ZTIMESTAMP) FROM ATRANSACTION")
            all[position].seconds = times?.first?.first?.real ?? 0
        }
        return all.ordered { ($0.size, $0.rows, $1.name) > ($1.size, $1.rows, $0.name) }
    }
}
