internal import FaultlineFindings

/// Empty space in the file.
struct FragmentationEvaluator: StoreEvaluator {
    let rule = "S01"
    let name = "Empty space"

    /// The minimum share of the file that is empty, and the minimum size of the file.
    static let minimumEmpty = 0.2
    static let minimumSize: UInt64 = 1 << 20

    func examined(_ facts: StoreFacts) -> Wording? { facts.pages == 0 ? nil : "\(count: facts.pages, "page")" }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        guard facts.size >= Self.minimumSize, facts.pages > 0 else { return [] }
        let free = Double(facts.freePages) / Double(facts.pages)
        let unused = Double(facts.tables.reduce(0) { $0 &+ $1.unused }) / Double(facts.size)
        guard free + unused >= Self.minimumEmpty else { return [] }
        return [
            finding(
                "Vacuum the file", of: facts, extent: (free + unused) / 0.2,
                fix: "VACUUM rewrites the file. It needs as much space again while it runs.",
                code: ["VACUUM;"],
                explanation: [
                    "\(percent: free) of the pages are free, and \(percent: unused) of the file is empty space in "
                        + "the pages of tables."
                ],
                evidence: [
                    Evidence("freeShare", free, .share), Evidence("unusedShare", unused, .share),
                    Evidence("size", facts.size, .bytes),
                ], trying: .vacuum)
        ]
    }
}

/// Persistent history that makes up a large part of a Core Data file.
struct HistoryEvaluator: StoreEvaluator {
    let rule = "S03"
    let name = "Persistent history"

    static let minimumShare = 0.2
    static let minimumSize: UInt64 = 1 << 20

    private func history(_ facts: StoreFacts) -> StoreFacts.Part? { facts.others.first { $0.kind == .history } }

    func examined(_ facts: StoreFacts) -> Wording? { history(facts).map { "\(size: $0.size)" } }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        guard let history = history(facts), history.size >= Self.minimumSize, facts.size > 0 else { return [] }
        let share = Double(history.size) / Double(facts.size)
        guard share >= Self.minimumShare else { return [] }
        let days = history.seconds / 86_400
        return [
            finding(
                "Delete persistent history that every reader has processed", of: facts,
                extent: share / 0.2,
                fix:
                    "Run \(code: "NSPersistentHistoryChangeRequest.deleteHistory(before:)") with the date that all readers have reached, "
                    + "then let the file shrink with VACUUM (\(code: "NSSQLiteManualVacuumOption")).",
                explanation: [
                    "\(percent: share) of the file is persistent history: \(size: history.size) in "
                        + "\(rows: history.rows) of \(decimal: days, places: 0) days."
                ],
                evidence: [
                    Evidence("historyShare", share, .share), Evidence("historySize", history.size, .bytes),
                    Evidence("historyRows", history.rows, .rows),
                ], trying: .purgeHistory)
        ]
    }
}

/// Tables that do not fit the page cache of a connection.
///
/// SQLite's default is 2,000 KiB (https://www.sqlite.org/pragma.html#pragma_cache_size). Faultline's store uses 32 MiB.
struct PageCacheEvaluator: StoreEvaluator {
    let rule = "S02"
    let name = "Page cache"

    static let defaultSize: UInt64 = 2000 << 10
    static let sizeOfFaultline: UInt64 = 32 << 20
    /// The largest cache that is advised.
    ///
    /// A larger one is not a reasonable default.
    static let largestSize: UInt64 = 256 << 20

    func examined(_ facts: StoreFacts) -> Wording? { facts.size == 0 ? nil : "\(size: facts.size)" }

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        let indexes = facts.tables.flatMap(\.indexes).reduce(0) { $0 &+ $1.size }
        let all = facts.tables.reduce(0) { $0 &+ $1.size } &+ indexes
        // Large values are on pages of their own, which are not read with the rows.
        let large = facts.tables.reduce(0.0) { sum, table in
            sum
                + table.columns.filter { $0.largestSize >= facts.pageSize }
                .reduce(0) { $0 + $1.meanSize * Double(table.rows) }
        }
        let hot = max(0, Double(all) - large)
        let size = facts.isFaultline ? Self.sizeOfFaultline : Self.defaultSize
        guard hot > Double(size), hot <= Double(Self.largestSize) else { return [] }
        var kibibytes: UInt64 = 4096
        while Double(kibibytes << 10) < hot { kibibytes *= 2 }
        return [
            finding(
                "Give SQLite's page cache \(size: kibibytes << 10)", of: facts,
                extent: hot / 8_388_608,
                fix: facts.isCoreData
                    ? "Pass it to the store as a pragma (\(code: "NSSQLitePragmasOption"): cache_size)."
                    : "Set it on each connection: with \(size: size), SQLite reads the same pages again and again.",
                code: ["PRAGMA cache_size = -\(kibibytes);"],
                explanation: [
                    large == 0
                        ? "Tables and indexes take \(size: all)."
                        : "Tables and indexes take \(size: all), \(size: hot) of it without large values."
                ],
                evidence: [Evidence("tables", all, .bytes), Evidence("withoutLargeValues", hot, .bytes)],
                trying: .cacheSize(kibibytes: kibibytes, insteadOf: size >> 10))
        ]
    }
}

/// Missing statistics, without which SQLite guesses which of several indexes is best.
struct StatisticsEvaluator: StoreEvaluator {
    let rule = "R22"
    let name = "Statistics"

    static let minimumRows: UInt64 = 10_000

    func advice(_ facts: StoreFacts) -> [StoreAdvice] {
        guard !facts.hasStatistics else { return [] }
        let tables = facts.tables.filter { $0.rows >= Self.minimumRows && $0.indexes.count > 1 }
        guard let largest = tables.max(by: { ($0.rows, $1.name) < ($1.rows, $0.name) }) else { return [] }
        return [
            finding(
                "Run ANALYZE", in: largest, extent: 0,
                fix: "Without statistics SQLite guesses which of several indexes is more selective.",
                code: ["ANALYZE;"],
                explanation: [
                    "\(count: tables.count, "table") of at least \(count: Self.minimumRows) rows "
                        + "\(tables.count == 1 ? "has" : "have") several indexes and no statistics."
                ],
                evidence: [Evidence("rows", largest.rows, .rows), Evidence("tables", Double(tables.count), .count)],
                trying: .analyze(tables: tables.map(\.name)))
        ]
    }
}

extension RulePage {
    /// The pages of all rules that reports and inspections name, by number.
    package static let all =
        Rules.all.map { rule in
            RulePage(
                id: rule.id, name: rule.name, purpose: rule.purpose, manual: rule.manual, thresholds: rule.thresholds)
        } + [FragmentationEvaluator.page, PageCacheEvaluator.page, HistoryEvaluator.page]
}

extension FragmentationEvaluator {
    static let page = RulePage(
        id: FragmentationEvaluator().rule, name: FragmentationEvaluator().name,
        purpose: "Files with much empty space.",
        manual: RuleManual(
            trigger:
                "S01 reports a file of at least \(Phrase.size(Double(minimumSize))), of which at least "
                + "\(Phrase.percent(minimumEmpty)) are free pages or empty space in the pages of tables; VACUUM must "
                + "make a copy of it at least \(Phrase.percent(minimumEmpty)) smaller.",
            evidence:
                "The finding gives the shares of free pages and of empty space (SQLite's dbstat), and the sizes before "
                + "and after VACUUM.",
            fix: "Run VACUUM, which rewrites the file. It needs as much space again while it runs.",
            saving: "The file shrinks by as much as the copy did. No time is predicted.",
            guards: [
                "Rows just over half a page leave empty space that VACUUM cannot remove: the trial shows it.",
                "S01 ignores the order of the pages: its cost depends on the disk and on which pages are cached in memory.",
                "If SQLite was built without dbstat, only free pages count.",
            ]))
}

extension HistoryEvaluator {
    static let page = RulePage(
        id: HistoryEvaluator().rule, name: HistoryEvaluator().name,
        purpose: "Core Data files with a large persistent history.",
        manual: RuleManual(
            trigger:
                "S03 reports at least \(Phrase.size(Double(minimumSize))) of history that takes at least "
                + "\(Phrase.percent(minimumShare)) of the file. A copy without transactions older than a week must be "
                + "at least \(Phrase.percent(FragmentationEvaluator.minimumEmpty)) smaller.",
            evidence:
                "The finding gives the size and the rows of the tables ACHANGE and ATRANSACTION, and the days that "
                + "they cover.",
            fix: "Delete history that every reader has processed, then vacuum the file.",
            saving: "The file shrinks by as much as the copy did. No time is predicted.",
            guards: [
                "S03 ignores the history of the last week: extensions and CloudKit may not have read it.",
                "Free pages do not count: both sizes are those after VACUUM.",
            ]))
}

extension PageCacheEvaluator {
    static let page = RulePage(
        id: PageCacheEvaluator().rule, name: PageCacheEvaluator().name,
        purpose: "Tables and indexes that do not fit into the page cache of a connection.",
        manual: RuleManual(
            trigger:
                "S02 reports tables and indexes that take more than \(Phrase.size(Double(defaultSize))) without their "
                + "large values, or more than \(Phrase.size(Double(sizeOfFaultline))) in a store of Faultline. On a "
                + "copy, the larger cache must make look-ups faster and scans no slower.",
            evidence:
                "The finding gives the bytes of all tables and indexes, and those without large values; the times of "
                + "look-ups and scans.",
            fix: "Set PRAGMA cache_size on every connection. Faultline's store sets 32 MiB by itself.",
            saving: "No time is predicted: the trial measures look-ups on the copy.",
            guards: [
                "Values of at least a page have pages of their own, which are not read with the rows, and do not "
                    + "count.",
                "S02 never advises a cache of more than \(Phrase.size(Double(largestSize))).",
            ]))
}
