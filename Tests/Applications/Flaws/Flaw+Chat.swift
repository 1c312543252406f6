extension Flaw {
    /// Messages of members in rooms.
    static let chat = [
        Flaw(
            "Chat", "authors", "R06", "Index Member by name", line: "// by author's name"),
        Flaw("Chat", "sized", "R06", "Index Message by size", line: "// of a size"),
        Flaw(
            "Chat", "order", "R07", "Compare size before text in the predicate of Message",
            line: "// in the wrong order"),
        Flaw(
            "Chat", "list", "R02", "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown as a list"),
        Flaw(
            "Chat", "sections", "R02", "Set the batch size of Message to 30 (now all rows at once)",
            line: "// shown by day"),
        Flaw(
            "Chat", "prefetch", "R20", #"Do not prefetch "author" with the fetch of Message"#,
            line: "// sorted, with authors"),
        Flaw(
            "Chat", "profiles", "R16", #"Fold Profile into Member, which always reads it through "profile""#,
            line: "// members"),
    ]
}
