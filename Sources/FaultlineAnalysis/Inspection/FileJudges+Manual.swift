extension FragmentationJudge {
    static let page = RulePage(
        id: FragmentationJudge().rule, name: FragmentationJudge().name,
        purpose: "Files with pages that hold little, or that do not lie in order.",
        manual: RuleManual(
            trigger:
                "A file of \(Phrase.size(Double(minimumSize))) or more, \(Phrase.percent(minimumFree)) of whose pages "
                + "hold nothing, or \(Phrase.percent(minimumUnused)) of the room in the pages of whose tables is empty, or "
                + "\(Phrase.percent(minimumJumps)) of whose tables' pages do not follow the one before.",
            evidence: "The shares of free pages, of empty room and of jumps, and the file's size (SQLite's dbstat).",
            fix: "VACUUM, which writes the file anew. It needs as much room again while it runs.",
            saving: "None is told: how often the tables are read through, a file at rest does not say.",
            guards: [
                "Small files are in memory soon, whatever they look like.",
                "Where SQLite was built without dbstat, free pages alone are counted.",
            ]))
}

extension PageCacheJudge {
    static let page = RulePage(
        id: PageCacheJudge().rule, name: PageCacheJudge().name,
        purpose: "Tables and indexes that do not fit the page cache that SQLite has by default.",
        manual: RuleManual(
            trigger:
                "Tables and indexes that take more than \(Phrase.size(Double(defaultSize))) without their large values.",
            evidence: "The bytes of all tables and indexes, and those without large values.",
            fix: "PRAGMA cache_size for every connection. The store of Faultline takes 32 MiB by itself.",
            saving:
                "None is told: a page that the system has in memory costs a copy, one that it has not a thousand times that.",
            guards: [
                "Values of a page and more lie in pages of their own, which are not read with the rows, and do not count.",
                "More than \(Phrase.size(Double(largestSize))) nobody would keep in memory as a matter of course.",
            ]))
}
