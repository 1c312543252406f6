extension Flaw {
    /// Messages in channels.
    static let feed = [
        Flaw(
            "Feed", "counts", "R04",
            "Count Message for all values of channel at once, in one grouped fetch",
            code: [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Message>()",
                #"request.predicate = FetchPredicate.isIn("channel", objects: ids)"#,
                #"    && PropertyPath("isRead") == isRead"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])"#,
                #"request.propertiesToGroupBy = ["channel"]"#, "let groups = try context.fetchDictionaries(request)",
            ], line: "// counted one by one", file: "Program.swift"),
        Flaw(
            "Feed", "sums", "R04",
            "Aggregate Message for all values of channel at once, in one grouped fetch",
            code: [
                #"request.predicate = .isIn("channel", objects: ids)"#,
                #"request.propertiesToFetch.append("channel")"#, #"request.propertiesToGroupBy = ["channel"]"#,
                "let groups = try context.fetchDictionaries(request)",
            ], line: "// added up one by one", file: "Program.swift"),
        Flaw(
            "Feed", "results", "R04",
            "Count Message for all values of channel at once, in one grouped fetch",
            code: [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Message>()", #"request.predicate = .isIn("channel", objects: ids)"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])"#,
                #"request.propertiesToGroupBy = ["channel"]"#, "let groups = try context.fetchDictionaries(request)",
            ], line: "// fetched to be counted", file: "Program.swift"),
        Flaw(
            "Feed", "newest", "R04",
            "Keep the last Message of each Channel in a relationship, and prefetch it",
            code: [
                "// In the model: Channel.lastMessage: to-one Message",
                #"request.relationshipKeyPathsForPrefetching = ["lastMessage"]"#,
            ], line: "// fetched for each channel", file: "Program.swift"),
        Flaw(
            "Feed", "existing", "R04", "Fetch the objects of Message at once by their IDs, with IN",
            code: lookUp, line: "// looked up one by one", file: "Program.swift", mayBeNote: true),
        Flaw(
            "Feed", "objects", "R04", "Fetch the objects of Message at once by their IDs, with IN",
            code: lookUp, line: "// read one by one", file: "Program.swift", mayBeNote: true),
        Flaw(
            "Feed", "pages", "R14",
            "Continue each page of Message after the last row of the previous page, not by offset",
            code: [#"request.predicate = PropertyPath("number") > last.number"#, "request.fetchOffset = 0"],
            line: "// turned to", file: "Program.swift"),
        Flaw(
            "Feed", "import", "R04", "Fetch Member for all values of handle at once, with IN",
            code: [
                #"request.predicate = .isIn("handle", values)"#, "let found = try context.fetch(request)",
                "let groups = Dictionary(grouping: found) { $0.handle }",
            ], line: "// found among the unsaved", file: "Program.swift"),
    ]

    private static let lookUp = [
        #"var request = FetchRequest<Message>(predicate: .isIn("self", objects: ids))"#,
        "request.returnsObjectsAsFaults = false", "let found = try context.fetch(request)",
    ]
}
