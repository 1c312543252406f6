extension RulePage {
    /// The pages of all rules that reports and inspections name, by number.
    public static let all =
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
                "A file of at least \(Phrase.size(Double(minimumSize))), of which at least \(Phrase.percent(minimumEmpty)) are "
                + "free pages or empty space in the pages of tables; VACUUM must make a copy of it at least "
                + "\(Phrase.percent(minimumEmpty)) smaller.",
            evidence:
                "The shares of free pages and of empty space (SQLite's dbstat), and the sizes before and after VACUUM.",
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
                "At least \(Phrase.size(Double(minimumSize))) of history, and at least "
                + "\(Phrase.percent(minimumShare)) of the file. A copy without transactions older than a week must be "
                + "at least \(Phrase.percent(FragmentationEvaluator.minimumEmpty)) smaller.",
            evidence: "The size and the rows of the tables ACHANGE and ATRANSACTION, and the days that they cover.",
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
                "Tables and indexes that take more than \(Phrase.size(Double(defaultSize))) without their large "
                + "values, or more than \(Phrase.size(Double(sizeOfFaultline))) in a store of Faultline. On a copy, "
                + "the larger cache must make look-ups faster and scans no slower.",
            evidence:
                "The bytes of all tables and indexes, and those without large values; the times of look-ups and scans.",
            fix: "PRAGMA cache_size for every connection. The store of Faultline sets 32 MiB by itself.",
            saving: "No time is predicted: the trial measures look-ups on the copy.",
            guards: [
                "Values of at least a page have pages of their own, which are not read with the rows, and do not "
                    + "count.",
                "S02 never advises a cache of more than \(Phrase.size(Double(largestSize))).",
            ]))
}
