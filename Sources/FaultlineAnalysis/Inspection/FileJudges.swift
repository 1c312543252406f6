/// Pages of the file that hold nothing, or do not lie in order.
struct FragmentationJudge: StoreJudge {
    let rule = "S01"
    let name = "Fragmentation"

    /// Shares of the file, and bytes, from which on it is worth a word.
    static let minimumFree = 0.2
    static let minimumUnused = 0.3
    static let minimumJumps = 0.3
    static let minimumSize: UInt64 = 1 << 20

    func examined(_ facts: StoreFacts) -> String? { facts.pages == 0 ? nil : Phrase.count(facts.pages, "page") }

    func findings(_ facts: StoreFacts) -> [Finding] {
        guard facts.size >= Self.minimumSize, facts.pages > 0 else { return [] }
        let free = Double(facts.freePages) / Double(facts.pages)
        let size = facts.tables.reduce(0) { $0 &+ $1.size }
        let unused = Double(facts.tables.reduce(0) { $0 &+ $1.unused }) / Double(max(1, size))
        let jumps = Double(facts.tables.reduce(0) { $0 &+ $1.jumps }) * Double(facts.pageSize) / Double(max(1, size))
        guard free >= Self.minimumFree || unused >= Self.minimumUnused || jumps >= Self.minimumJumps else { return [] }
        var sentences: [String] = []
        if free >= Self.minimumFree {
            sentences.append("\(Phrase.percent(free)) of the pages hold nothing.")
        }
        if unused >= Self.minimumUnused {
            sentences.append("\(Phrase.percent(unused)) of the room in the pages of tables is empty.")
        }
        if jumps >= Self.minimumJumps {
            sentences.append(
                "\(Phrase.percent(jumps)) of the tables' pages do not follow the one before: reading a table through jumps about "
                    + "in the file.")
        }
        return [
            finding(
                "Vacuum the file", of: facts, score: Score.of(max(free, unused, jumps), info: 0.2, warning: 1),
                fix:
                    "VACUUM writes the file anew, with full pages in order. It needs as much room again while it runs.",
                code: ["VACUUM;"], explanation: [sentences.joined(separator: " ")],
                evidence: [
                    Evidence("freeShare", free, .share), Evidence("unusedShare", unused, .share),
                    Evidence("jumpShare", jumps, .share), Evidence("size", facts.size, .bytes),
                ])
        ]
    }
}

/// Whether the tables fit SQLite's page cache.
///
/// 2,000 KiB by default (https://www.sqlite.org/pragma.html#pragma_cache_size).
struct PageCacheJudge: StoreJudge {
    let rule = "S02"
    let name = "Page cache"

    static let defaultSize: UInt64 = 2000 << 10
    /// Beyond this nobody would keep it in memory as a matter of course.
    static let largestSize: UInt64 = 256 << 20

    func examined(_ facts: StoreFacts) -> String? { facts.size == 0 ? nil : Phrase.size(Double(facts.size)) }

    func findings(_ facts: StoreFacts) -> [Finding] {
        let indexes = facts.tables.flatMap(\.indexes).reduce(0) { $0 &+ $1.size }
        let all = facts.tables.reduce(0) { $0 &+ $1.size } &+ indexes
        // Large values lie in pages of their own, which are not read with the rows.
        let large = facts.tables.reduce(0.0) { sum, table in
            sum
                + table.columns.filter { $0.largestSize >= facts.pageSize }
                .reduce(0) { $0 + $1.meanSize * Double(table.rows) }
        }
        let hot = max(0, Double(all) - large)
        guard hot > Double(Self.defaultSize), hot <= Double(Self.largestSize) else { return [] }
        var kibibytes: UInt64 = 4096
        while Double(kibibytes << 10) < hot { kibibytes *= 2 }
        return [
            finding(
                "Give SQLite's page cache \(Phrase.size(Double(kibibytes << 10)))", of: facts,
                score: Score.of(hot, info: 8_388_608, warning: 1_073_741_824),
                fix:
                    "With the default of \(Phrase.size(Double(Self.defaultSize))) pages are read from the file again and again. The "
                    + "store of Faultline takes 32 MiB by itself.",
                code: ["PRAGMA cache_size = -\(kibibytes);"],
                explanation: [
                    "Tables and indexes take \(Phrase.size(Double(all))), \(Phrase.size(hot)) of it without large values."
                ],
                evidence: [Evidence("tables", all, .bytes), Evidence("withoutLargeValues", hot, .bytes)])
        ]
    }
}

/// Whether SQLite knows enough of the tables to choose among indexes.
struct StatisticsJudge: StoreJudge {
    let rule = "R22"
    let name = "Statistics"

    static let minimumRows: UInt64 = 10_000

    func findings(_ facts: StoreFacts) -> [Finding] {
        guard !facts.hasStatistics else { return [] }
        let tables = facts.tables.filter { $0.rows >= Self.minimumRows && $0.indexes.count > 1 }
        guard let largest = tables.max(by: { ($0.rows, $1.name) < ($1.rows, $0.name) }) else { return [] }
        return [
            finding(
                "Run ANALYZE", in: largest, score: Score.highestNote,
                fix: "Without statistics SQLite guesses which of several indexes leaves fewer rows.",
                code: ["ANALYZE;"],
                explanation: [
                    "\(Phrase.count(UInt64(tables.count), "table")) of "
                        + "\(Phrase.count(Self.minimumRows)) rows or more \(tables.count == 1 ? "has" : "have") several indexes "
                        + "and no statistics."
                ],
                evidence: [Evidence("rows", largest.rows, .rows), Evidence("tables", Double(tables.count), .count)])
        ]
    }
}
