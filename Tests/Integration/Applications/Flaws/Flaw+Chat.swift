extension Flaw {
    /// Messages of members in rooms.
    static let chat = [
        Flaw(
            "Chat", "authors", "R06", "Index Member by name", line: "// by author's name", others: ["R04"]),
        Flaw("Chat", "sized", "R06", "Index Message by size", line: "// of a size"),
        Flaw(
            "Chat", "order", "R07", "Compare size before text in the predicate of Message",
            line: "// in the wrong order", others: ["R06", "R08"]),
        Flaw(
            "Chat", "list", "R02", "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown as a list", others: ["R19"]),
        Flaw(
            "Chat", "sections", "R02", "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown by day", others: ["R19"]),
        Flaw(
            "Chat", "prefetch", "R20", #"Do not prefetch "author" with the fetch of Message"#,
            line: "// sorted, with authors", others: ["R19"], thresholds: anyPrefetch),
        Flaw(
            "Chat", "profiles", "R16", #"Fold Profile into Member, which always reads it through "profile""#,
            line: "// members", others: ["R01", "R19"]),
        Flaw(
            "Chat", "partial", "R09", "Move Message.photo into an entity of its own",
            line: #"AttributeDescription("photo""#, file: "Model.swift", others: ["R06"]),
    ]
}
