extension Flaw {
    /// Boards with lists of cards.
    static let kanban = [
        Flaw(
            "Kanban", "board", "R01", #"Prefetch "lists.cards.remarks" with the fetch of Board"#, line: "// the board"),
        Flaw(
            "Kanban", "picker", "R18", "Run the fetch of Member once, and keep its result", line: "// to pick from"),
        Flaw(
            "Kanban", "badges", "R01", "Count Card.remarks for all objects at once: the members are never read",
            line: "// with a badge"),
        Flaw(
            "Kanban", "newest", "R04", "Keep the newest Remark of each Card in a relationship, and prefetch it",
            line: "// the newest remark"),
        Flaw("Kanban", "launch", "R17", "Drop the fetch of Remark, whose result is never used", line: "// to warm up"),
        Flaw(
            "Kanban", "texts", "R20", #"Do not prefetch "author" with the fetch of Remark"#, line: "// texts alone",
            thresholds: anyPrefetch),
        Flaw("Kanban", "forms", "R10", "Save Card once, after all changes", line: "// one card"),
        Flaw("Kanban", "dropped", "R10", "Save List once, after all changes", line: "// one drop"),
    ]
}
