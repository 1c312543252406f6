extension FragmentationJudge {
    static let page = RulePage(
        id: FragmentationJudge().rule, name: FragmentationJudge().name,
        purpose: "Files with much space that holds nothing.",
        manual: RuleManual(
            trigger:
                "A file of at least \(Phrase.size(Double(minimumSize))), of which at least \(Phrase.percent(minimumEmpty)) are "
                + "free pages or empty space in the pages of tables; VACUUM must make a copy of it at least "
                + "\(Phrase.percent(minimumEmpty)) smaller.",
            evidence:
                "The shares of free pages and of empty space (SQLite's dbstat), and the sizes before and after VACUUM.",
            fix: "VACUUM, which writes the file anew. It needs as much room again while it runs.",
            saving: "The file gets smaller by what the copy did. No time is predicted.",
            guards: [
                "Rows just over half a page leave empty space that VACUUM cannot remove: the trial shows it.",
                "The order of the pages is not judged: what it costs depends on the disk and on what is in memory.",
                "Where SQLite was built without dbstat, free pages alone are counted.",
            ]))
}

extension HistoryJudge {
    static let page = RulePage(
        id: HistoryJudge().rule, name: HistoryJudge().name,
        purpose: "Files of Core Data's that consist of persistent history to a large part.",
        manual: RuleManual(
            trigger:
                "At least \(Phrase.size(Double(minimumSize))) of history, and at least \(Phrase.percent(minimumShare)) of the "
                + "file; without transactions older than a week a copy must be at least "
                + "\(Phrase.percent(FragmentationJudge.minimumEmpty)) smaller.",
            evidence: "The size and the rows of the tables ACHANGE and ATRANSACTION, and the days that they cover.",
            fix: "Delete history that every reader has processed, then vacuum the file.",
            saving: "The file gets smaller by what the copy did. No time is predicted.",
            guards: [
                "History of the last week is left out: extensions and CloudKit may not have read it.",
                "Free pages do not count: both sizes are those after VACUUM.",
            ]))
}

extension PageCacheJudge {
    static let page = RulePage(
        id: PageCacheJudge().rule, name: PageCacheJudge().name,
        purpose: "Tables and indexes that do not fit the page cache of a connection.",
        manual: RuleManual(
            trigger:
                "Tables and indexes that take more than \(Phrase.size(Double(defaultSize))) without their large values, or "
                + "\(Phrase.size(Double(sizeOfFaultline))) in a store of Faultline's; on a copy the larger cache must make "
                + "look-ups faster and scans no slower.",
            evidence:
                "The bytes of all tables and indexes, and those without large values; the times of look-ups and scans.",
            fix: "PRAGMA cache_size for every connection. The store of Faultline sets 32 MiB by itself.",
            saving: "No time is predicted: the trial says how look-ups on the copy changed.",
            guards: [
                "Values of a page and more lie in pages of their own, which are not read with the rows, and do not count.",
                "A cache of more than \(Phrase.size(Double(largestSize))) is not advised.",
            ]))
}
