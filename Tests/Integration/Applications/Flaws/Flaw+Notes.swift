extension Flaw {
    /// Notes with tags and sketches.
    static let notes = [
        Flaw(
            "Notes", "search", "R07", "Compare folder before text in the predicate of Note", line: "// words first",
            others: ["R06", "R08", "R09"]),
        Flaw(
            "Notes", "complete", "R08", "Search a folded copy of Note.title, not BEGINSWITH[c]",
            line: "// typed so far", others: ["R03"]),
        Flaw(
            "Notes", "tagged", "R20", #"Do not prefetch "tags" with the fetch of Note"#,
            line: "// with tags that nobody reads", thresholds: anyPrefetch),
        Flaw(
            "Notes", "pages", "R14",
            "Continue each page of Note after the last row of the previous page, not by offset",
            line: "// page by page", others: ["R03"], thresholds: #"{"significance": {"time": "100 us"}}"#),
        Flaw(
            "Notes", "newest", "R19", "Index Note by createdAt to avoid the sort", line: "// the newest",
            others: ["R03"]),
        Flaw(
            "Notes", "sketches", "R09", "Keep Note.sketch outside the rows, in files of its own",
            line: #"AttributeDescription("sketch""#, file: "Model.swift"),
    ]
}
