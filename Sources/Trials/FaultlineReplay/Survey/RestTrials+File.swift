import FaultlineFindings
import FaultlineRules

extension RestTrials {
    /// The minimum share by which the file must shrink.
    private static let worthwhile = 0.2

    private var size: UInt64 { facts.pages * facts.pageSize }

    /// Vacuums a copy, and compares the sizes.
    func vacuum() throws -> StoreTrial? {
        try comparison(of: size, with: try store.sizeAfterVacuum(), "VACUUM makes it")
    }

    /// Deletes history older than a week, and compares the sizes after VACUUM, so free pages do not count as a gain.
    func purgeHistory() throws -> StoreTrial? {
        let before = try store.sizeAfterVacuum()
        let twin = try store.twin()
        let old = "SELECT Z_PK FROM ATRANSACTION WHERE ZTIMESTAMP < (SELECT max(ZTIMESTAMP) FROM ATRANSACTION) - 604800"
        try twin.run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (\(old))")
        try twin.run("DELETE FROM ATRANSACTION WHERE Z_PK IN (\(old))")
        return try comparison(
            of: before, with: try store.sizeAfterVacuum(ofTwin: true), "without transactions older than a week it is")
    }

    private func comparison(of before: UInt64, with after: UInt64, _ words: Wording) throws -> StoreTrial {
        let share = 1 - Double(after) / Double(max(1, before))
        let sizes: Wording = "\(size: after) instead of \(size: before)"
        guard share >= Self.worthwhile else {
            return StoreTrial(isConfirmed: false, "On a copy, \(words) \(sizes).")
        }
        return StoreTrial(
            isConfirmed: true, "\(words) \(sizes).",
            evidence: [Evidence("sizeAfter", Double(after), .bytes), Evidence("saved", share, .share)])
    }

    /// Compares look-ups and scans of the largest table with both page caches.
    func cacheSize(_ kibibytes: UInt64, insteadOf old: UInt64) throws -> StoreTrial? {
        guard let table = facts.tables.filter(hasRowID).max(by: { $0.size < $1.size }) else { return nil }
        let (small, large) = (try store.secondConnection(), try store.secondConnection())
        try small.run("PRAGMA cache_size = -\(old)")
        try large.run("PRAGMA cache_size = -\(kibibytes)")
        let name = quoted(table.name)
        // The rows use more pages than the smaller cache holds.
        let pages = Int(old << 10 / max(512, facts.pageSize))
        let keys = try drawn(["rowid"], of: table, 4 * pages)
        let lookups = try times(
            "SELECT * FROM \(name) WHERE rowid = ?1", keys, before: small, after: large,
            fewest: min(keys.count, pages + pages / 2))
        guard lookups.isFaster else {
            return StoreTrial(
                isConfirmed: false, "With it, a look-up in \(entity: table.label) takes \(lookups.words).")
        }
        let scans = try times("SELECT * FROM \(name) LIMIT 50000", before: small, after: large)
        guard scans.ratio <= 1.02 else {
            return StoreTrial(isConfirmed: false, "With it, a scan of \(entity: table.label) takes \(scans.words).")
        }
        return StoreTrial(
            isConfirmed: true, "a look-up in \(entity: table.label) takes \(lookups.words), and a scan \(scans.words).",
            evidence: [
                Evidence("lookUpBefore", lookups.before, .nanoseconds),
                Evidence("lookUpAfter", lookups.after, .nanoseconds),
            ])
    }

    /// Compares queries for two indexed columns before and after `ANALYZE`, if one column is more selective.
    func analyze(_ tables: [String]) throws -> StoreTrial? {
        let twin = try store.twin()
        try twin.run("ANALYZE")
        defer {
            try? twin.run("DROP TABLE IF EXISTS sqlite_stat1")
            try? twin.run("DROP TABLE IF EXISTS sqlite_stat4")
            try? twin.run("ANALYZE sqlite_schema")
        }
        var best: (table: String, times: PairedTimes)?
        for table in facts.tables where tables.contains(table.name) {
            for (one, other) in Self.pairs(table.indexes.compactMap(\.first)) {
                let sql = "SELECT * FROM \(quoted(table.name)) WHERE \(quoted(one)) = ?1 AND \(quoted(other)) = ?2"
                guard try store.file.plan(sql) != twin.plan(sql) else { continue }
                let times = try times(sql, try drawn([one, other], of: table), before: store.file, after: twin)
                if times.isSlower {
                    return StoreTrial(
                        isConfirmed: false,
                        "After ANALYZE, the query for \(code: one) and \(code: other) in \(entity: table.label) takes "
                            + "\(times.words)."
                    )
                }
                if times.isFaster, times.ratio < best?.times.ratio ?? 1 { best = (table.label, times) }
            }
        }
        guard let best else { return StoreTrial(isConfirmed: false, "On a copy, no query gets faster.") }
        return StoreTrial(
            isConfirmed: true, "the query for two columns of \(entity: best.table) takes \(best.times.words).",
            evidence: [Evidence("ratio", best.times.ratio, .share)])
    }

    /// Pairs of different columns, limited in number.
    private static func pairs(_ columns: [String]) -> [(String, String)] {
        var seen: Set<String> = []
        let columns = columns.filter { seen.insert($0).inserted }.prefix(5)
        return columns.indices.flatMap { position in columns[(position + 1)...].map { (columns[position], $0) } }
    }
}
