import FaultlineFindings
import FaultlineRules

extension RestTrials {
    private static let (old, new) = ("faultline_before", "faultline_after")
    /// The maximum rows and bytes of a table that are copied into a new layout.
    private static let mostRows: UInt64 = 20_000
    private static let maximumBytes = 64.0 * 1_048_576

    /// Compares scans of the other columns, with and without the large one.
    ///
    /// An object store reads all columns of an object, so there a fetch of all objects is compared.
    func moveOut(_ column: String, of name: String) throws -> StoreTrial? {
        let table = try table(name)
        let others = names(table.columns.filter { $0.name != column })
        guard !facts.isCoreData else {
            return try comparison(
                table, old: names(table.columns), new: others, query: names(table.columns), then: others,
                "a fetch of all objects")
        }
        return try comparison(
            table, old: names(table.columns), new: others, query: others,
            "a scan of the other columns")
    }

    /// Compares scans of the columns after a large one with a table in which they come first.
    func reorder(_ large: String, _ hidden: [String], of name: String) throws -> StoreTrial? {
        let table = try table(name)
        let columns = table.columns
        let reordered = columns.filter { $0.name != large } + columns.filter { $0.name == large }
        return try comparison(
            table, old: names(columns), new: names(reordered), query: hidden.map(quoted).joined(separator: ", "),
            "a scan of \(Wording.properties(columns.filter { hidden.contains($0.name) }.map(\.label)))")
    }

    /// Compares fetches of an entity's objects with a table that holds only these.
    func split(_ name: String) throws -> StoreTrial? {
        let table = try table(name)
        guard let kind = table.kinds.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key,
            let number = try store.file.rows(
                "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = \(DatabaseFile.literal(kind))"
            ).first?[0].number
        else { return nil }
        let own = names(table.columns.filter { !$0.emptyKinds.contains(kind) })
        return try comparison(
            table, old: names(table.columns), new: own, query: own, "a fetch of all \(entity: kind)", ofKind: number)
    }

    /// Compares a join with a table that holds the rows of both.
    func fold(_ other: String, into name: String, by column: String) throws -> StoreTrial? {
        guard let key = try table(other).key else { return nil }
        let twin = try store.twin()
        let join =
            "SELECT * FROM \(quoted(name)) JOIN \(quoted(other)) ON \(quoted(other)).\(quoted(key)) = "
            + "\(quoted(name)).\(quoted(column)) LIMIT \(Self.mostRows)"
        defer { drop(twin) }
        drop(twin)
        try twin.run("CREATE TABLE \(Self.new) AS \(join)")
        return verdict(
            try times(join, "SELECT * FROM \(Self.new)", before: twin, after: twin), "reading both tables")
    }

    // MARK: - Comparing

    private func names(_ columns: [StoreFacts.Column]) -> String {
        columns.map { quoted($0.name) }.joined(separator: ", ")
    }

    /// Creates two tables of the same rows, and queries both for the same columns.
    ///
    /// - Parameters:
    ///   - query: The columns that are queried.
    ///   - then: The columns that are queried in the new table, if they are not the same.
    ///   - kind: The number of the entity to which the new table is restricted.
    private func comparison(
        _ table: StoreFacts.Table, old: String, new: String, query: String, then: String? = nil, _ what: Wording,
        ofKind kind: UInt64? = nil
    ) throws -> StoreTrial? {
        let twin = try store.twin()
        let bytes = max(1, table.columns.reduce(0) { $0 + $1.meanSize })
        let limit = min(Double(Self.mostRows), max(100, Self.maximumBytes / bytes))
        defer { drop(twin) }
        drop(twin)
        let source = "FROM \(quoted(table.name)) LIMIT \(UInt64(limit))"
        try twin.run("CREATE TABLE \(Self.old) AS SELECT \(old) \(source)")
        guard let kind else {
            try twin.run("CREATE TABLE \(Self.new) AS SELECT \(new) \(source)")
            return verdict(
                try times(
                    "SELECT \(query) FROM \(Self.old)", "SELECT \(then ?? query) FROM \(Self.new)", before: twin,
                    after: twin), what)
        }
        try twin.run("CREATE INDEX faultline_kinds ON \(Self.old) (Z_ENT)")
        try twin.run("CREATE TABLE \(Self.new) AS SELECT \(new) FROM \(Self.old) WHERE Z_ENT = \(kind)")
        return verdict(
            try times(
                "SELECT \(query) FROM \(Self.old) WHERE Z_ENT = \(kind)", "SELECT \(query) FROM \(Self.new)",
                before: twin, after: twin), what)
    }

    private func drop(_ twin: DatabaseFile) {
        for name in [Self.old, Self.new] { try? twin.run("DROP TABLE IF EXISTS \(name)") }
    }

    private func verdict(_ times: PairedTimes, _ what: Wording) -> StoreTrial {
        guard times.isFaster else { return StoreTrial(isConfirmed: false, "On a copy, \(what) takes \(times.words).") }
        return StoreTrial(
            isConfirmed: true, "\(what) takes \(times.words).",
            evidence: [
                Evidence("before", times.before, .nanoseconds), Evidence("after", times.after, .nanoseconds),
            ])
    }
}
