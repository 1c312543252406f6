import CSQLite
import FaultlineModel
import FaultlineStore
import Foundation

extension StoreMigration {
    /// The results of the checks of a store.
    struct Ready {
        /// The number of objects by the number of their entity.
        let expected: [Int64: Int64]
        let files: UnsavedFiles?
    }

    /// Checks everything that can be known before the store is changed.
    func check() throws(StoreError) -> Ready {
        try checkSpace()
        let expected = try counts(old)
        try checkRelation(expected)
        try checkConfiguration(expected)
        for check in plan.checks { try self.check(check) }
        return Ready(expected: expected, files: try noteFiles())
    }

    /// Checks that the disk has room for a copy of all that changes.
    private func checkSpace() throws(StoreError) {
        guard !description.isInMemory, plan.statements.contains(where: { $0.stage == .rows }) else { return }
        let url = URL(fileURLWithPath: path)
        try StoreFiles.checkSpace(url.fileSize, in: url.deletingLastPathComponent(), path: path)
    }

    /// Checks that the model is a version of the store's model at all, because all objects would be removed otherwise.
    private func checkRelation(_ counts: [Int64: Int64]) throws(StoreError) {
        guard plan.pairs.pairs.isEmpty, counts.values.contains(where: { $0 > 0 }) else { return }
        let names = old.model.entities.filter { old.has($0.name) }.map { "'\($0.name)'" }.sorted().prefix(5)
        throw StoreError(
            .incompatibleModel,
            "Migrating '\(path)' is refused because the model has none of the store's entities (\(names.joined(separator: ", "))), so all objects would be removed; open it with a version of the model that it was written with."
        )
    }

    /// Checks that no entity with objects leaves the store's configuration, because no other store would get them.
    private func checkConfiguration(_ counts: [Int64: Int64]) throws(StoreError) {
        guard let name = new.configuration?.name else { return }
        for link in rules.links where old.has(link.old) && !new.has(link.new) {
            guard let entity = old.schema.entity(named: link.old), let count = counts[entity.number], count > 0 else {
                continue
            }
            throw StoreError(
                .migration,
                "Migrating '\(path)' is refused: the configuration '\(name)' no longer has the entity '\(link.new)', but the store has \(count) of its objects; move them to the other store in the older version first."
            )
        }
    }

    private func check(_ check: RowCheck) throws(StoreError) {
        guard let failure = try failure(of: check) else { return }
        throw StoreError(.migration, "Migrating '\(path)' is refused: \(failure).")
    }

    /// The reason why the rows fail a check; `nil` if they pass.
    func failure(of check: RowCheck) throws(StoreError) -> String? {
        // Beside the smallest key, SQLite gives the other column of its row (https://www.sqlite.org/quirks.html).
        var (count, example, entity) = (0, Int64(0), Int64(0))
        let statement = try session.connection.statement("SELECT COUNT(*), MIN(Z_PK), Z_ENT FROM (\(check.query))")
        try session.readAsEvent(statement, doing: Self.doing) { row in
            count = Int(sqlite3_column_int64(row, 0))
            (example, entity) = (sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2))
        }
        guard count > 0 else { return nil }
        let name = old.schema.position(ofNumber: entity).map { old.schema.entities[$0].name } ?? ""
        return check.message(RowCheck.Rows(entity: name, count: count, example: example))
    }

    /// The number of objects by the number of their entity.
    func counts(_ version: StoreVersion) throws(StoreError) -> [Int64: Int64] {
        var counts: [Int64: Int64] = [:]
        var seen: Set<String> = []
        for entity in version.storedEntities {
            guard seen.insert(entity.table).inserted else { continue }
            let query =
                entity.isInTree
                ? "SELECT Z_ENT, COUNT(*) FROM \(entity.table) GROUP BY Z_ENT"
                : "SELECT \(entity.number), COUNT(*) FROM \(entity.table)"
            for (number, count) in try setup.read(
                query, { (sqlite3_column_int64($0, 0), sqlite3_column_int64($0, 1)) })
            {
                counts[number] = count
            }
        }
        return counts
    }

    /// Checks that each object that continues is there, and no other one.
    func compare(_ expected: [Int64: Int64], _ found: [Int64: Int64]) throws(StoreError) {
        let sources = Dictionary(uniqueKeysWithValues: plan.pairs.pairs.map { ($0.new.number, $0.old) })
        for entity in new.storedEntities where !entity.isAbstract {
            let wanted = sources[entity.number].flatMap { expected[$0.number] } ?? 0
            let count = found[entity.number] ?? 0
            guard wanted != count else { continue }
            throw StoreError(
                .migration,
                "Migrating '\(path)' was undone because \(entity.name) would have \(count) objects instead of \(wanted); the store does not fit the version that it was written with, so check it with PRAGMA integrity_check."
            )
        }
    }

    /// Lists the files of large values that no row refers to afterward, for the next opening to remove.
    private func noteFiles() throws(StoreError) -> UnsavedFiles? {
        var (list, names): (UnsavedFiles?, [String]) = (nil, [])
        func note() {
            if names.isEmpty { return }
            list = list ?? UnsavedFiles(external)
            list?.note(names)
            names = []
        }
        for query in plan.fileQueries {
            try external.eachFile(query, session.connection) { name in
                names.append(name)
                if names.count == 1000 { note() }
            }
        }
        note()
        return list
    }
}
