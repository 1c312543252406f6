internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

extension UnreadColumnRule {
    /// The findings about lists whose bytes are mostly those of one column.
    ///
    /// - Parameter found: Findings about columns that the program did not read, which explain the same statements.
    func wideColumns(_ profile: Profile, besides found: [Finding]) -> [Finding] {
        let explained = Set(found.flatMap(\.subjects))
        return profile.statementHotspots.compactMap { sql, groups in
            guard let column = examinations.widestColumns[sql], column.bytes >= WideList.leastBytes,
                column.share >= WideList.leastShare, let table = StatementText(sql).table,
                !explained.contains(.statement(sql)), !Self.isRead(column.name, by: sql, profile)
            else { return nil }
            return WideList(sql: sql, table: table, groups: groups, column: column).finding(of: self, profile)
        }
    }

    /// Whether the program is known to read a column: a driver that copies whole rows reads all of them.
    private static func isRead(_ column: String, by sql: String, _ profile: Profile) -> Bool {
        profile.columnReads.contains { key, evidence in
            let library = StatementLibrary(names: evidence.libraries)
            return key.sql == sql && evidence.read.contains(column) && (library == nil || library == .grdb)
        }
    }
}

/// A statement that returns lists of rows, most of whose bytes are those of one column.
struct WideList {
    let sql: String
    let table: String
    /// At least one.
    let groups: [EventGroup]
    let column: WideColumn

    /// The minimum bytes of the column in a row, and the minimum share of the row's bytes.
    static let leastBytes = 4096.0
    static let leastShare = 0.8

    func finding(of rule: UnreadColumnRule, _ profile: Profile) -> Finding {
        let (time, runs, rows) = groups.reduce((UInt64(0), UInt64(0), UInt64(0))) { sums, group in
            (sums.0 &+ group.totalTime, sums.1 &+ group.count, sums.2 &+ group.counts.rows)
        }
        let saved = Double(time) * column.share
        let library = profile.library(of: sql)
        var finding = Finding(
            rule: rule.id, ruleName: rule.name,
            title: "Leave \(code: column.name) out of lists of \(entity: table) that do not show it",
            change: groups[0].key.site,
            severity: min(
                .warning,
                Significance.severity(saving: saved, wallTime: profile.knownWallTime ?? 0, isMainThread: false)),
            fix: "SQLite then neither reads nor copies these bytes. Read them for a single row when it is shown.",
            code: code(library), saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(time))),
            confidence: .medium("the program may use the column"),
            signature: [rule.id, "wide", StatementText(sql).summary, column.name].joined(separator: "|"))
        finding.codeLanguage = library?.language ?? "sql"
        finding.seenAt = groups.map { .init(site: $0.key.site, count: $0.count, time: $0.totalTime) }
        finding.subjects = [.statement(sql)]
        finding.explanation = [
            "\(count: runs, "run") of \(code: Phrase.shortened(StatementText(sql).summary, to: 90)) returned \(rows: rows), in "
                + "\(duration: time). In \(rows: column.rows) on a copy of the database, \(code: column.name) has "
                + "\(size: column.bytes) on average, \(percent: column.share) of a row."
        ]
        finding.evidence = [
            Evidence("executions", runs, .count), Evidence("rows", rows, .rows),
            Evidence("bytes", column.bytes, .bytes), Evidence("time", time, .nanoseconds),
        ]
        finding.claims = groups.map {
            Claim(
                StatementScanDetector.self, StatementSite(sql: sql, site: $0.key.site), balance: Double($0.totalTime))
        }
        if let reservation = StatementSite(sql: sql, site: groups[0].key.site).reservation {
            finding.reservations.append(reservation)
        }
        return finding
    }

    private func code(_ library: StatementLibrary?) -> [String] {
        let model = StatementLibrary.modelName(of: table)
        switch library {
        case .django?: return ["\(model).objects.defer(\"\(column.name)\")"]
        case .sqlAlchemy?: return ["select(\(model)).options(defer(\(model).\(column.name)))"]
        case .peewee?: return ["\(model).select(…)  # the other columns"]
        case .grdb?: return ["\(model).select(…)  // the other columns"]
        case .activeRecord?: return ["\(model).select(…)  # the other columns"]
        case .python?, nil: return []
        }
    }
}
