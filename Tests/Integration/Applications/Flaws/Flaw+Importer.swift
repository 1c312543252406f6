extension Flaw {
    /// A nightly job that reads files in and writes lists out.
    static let importer = [
        reading(
            "customers", "R04", "Fetch Customer for all values of code at once, with IN", line: "// found or made"),
        reading(
            "unknown", "R04", "Count Customer for all values of code at once, in one grouped fetch",
            line: "// asked for each"),
        reading(
            "countries", "R04", "Fetch Country for all values of code at once, with IN", line: "// for each customer"),
        reading("orders", "R10", "Save Order once, after all changes", line: "// saved one by one"),
        // Nobody waits for it.
        reading("lines", "R10", "Save Line in parts of … objects", line: "// saved together", mayBeNote: true),
        reading(
            "prices", "R23", "Set values only where they differ from the current values", line: "// prices"),
        writing(
            "codes", "R03", "Keep Customer.remarks out of the rows that this fetch loads", line: "// for a directory"),
        writing("export", "R01", #"Prefetch "customer" with the fetch of Order"#, line: "// exported"),
        writing("dump", "R14", "Load the rows of Line in batches, or a page at a time", line: "// dumped"),
        writing(
            "sums", "R04", "Aggregate Line for all values of order at once, in one grouped fetch",
            line: "// for each order"),
        writing("senders", "R06", "Index Customer by email", line: "// by address", others: ["R04"]),
        writing(
            "report", "R17", "Fetch Customer only where its result is used", line: "// for the report", others: ["R18"]),
    ]

    private static func reading(
        _ scenario: String, _ rule: String, _ title: String, line: String, mayBeNote: Bool = false
    ) -> Flaw {
        Flaw("Importer", scenario, rule, title, line: line, file: "Reading.swift", mayBeNote: mayBeNote)
    }

    private static func writing(
        _ scenario: String, _ rule: String, _ title: String, line: String, others: Set<String> = []
    ) -> Flaw {
        Flaw("Importer", scenario, rule, title, line: line, file: "Writing.swift", others: others)
    }
}
