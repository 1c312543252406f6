internal import FaultlineFindings

/// The advice to gather statistics, which SQLite's planner uses (https://www.sqlite.org/lang_analyze.html).
enum AnalyzeAdvice {
    static let fix: Wording =
        "Run ANALYZE after large imports, or have it run whenever the store is opened (\(code: "analyzesWhenAdded") of its "
        + "description; in Core Data \(code: "NSSQLiteAnalyzeOption"))."
    static let code = ["ANALYZE;"]
}
