extension Flaw {
    /// A reader of news.
    static let news = [
        Flaw(
            "News", "import", "R04", "Fetch Story for all values of identifier at once, with IN",
            line: "// known by its identifier", others: ["R06", "R10"]),
        Flaw(
            "News", "import", "R06", "Index Story by identifier", line: "// known by its identifier",
            others: ["R04", "R10"]),
        Flaw(
            "News", "import", "R10", "Save Publisher and Story …", line: "// one story",
            others: ["R04", "R06"]),
        Flaw(
            "News", "unread", "R01", #"Prefetch "stories" with the fetch of Publisher"#,
            line: "// with unread stories"),
        Flaw(
            "News", "latest", "R02", "Set the batch size of Story to 45 (now all rows at once)", line: "// the latest",
            others: ["R03"]),
        Flaw(
            "News", "older", "R14",
            "Continue each page of Story after the last row of the previous page, not by offset",
            line: "// one page back"),
        Flaw(
            "News", "marked", "R18", "Run the fetch of Story once, and keep its result", line: "// marked",
            others: ["R06"]),
        Flaw("News", "read", "R10", "Set Story.isRead with a batch request", line: "// to be marked as read"),
        Flaw("News", "expired", "R10", "Delete Story with a batch request", line: "// expired"),
    ]
}
