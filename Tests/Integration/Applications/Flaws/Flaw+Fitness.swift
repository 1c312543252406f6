extension Flaw {
    /// A diary of exercises and pulses.
    static let fitness = [
        Flaw(
            "Fitness", "weeks", "R04", "Aggregate Exercise once for all ranges of start, in one grouped fetch",
            line: "// the bar of a week"),
        Flaw(
            "Fitness", "averages", "R01", #"Prefetch "pulses" with the fetch of Exercise"#,
            line: "// with their pulses"),
        Flaw(
            "Fitness", "diary", "R09", "Move Exercise.track into an entity of its own",
            line: #"AttributeDescription("track""#, file: "Model.swift", others: ["R02"]),
        Flaw(
            "Fitness", "highest", "R03", "Limit the fetch of Pulse to the 1 row that is used", line: "// the highest",
            others: ["R19"]),
        Flaw("Fitness", "mornings", "R06", "Index Pulse by time", line: "// of one morning"),
        Flaw("Fitness", "live", "R10", "Save Pulse once, after all changes", line: "// one pulse"),
        Flaw(
            "Fitness", "widgets", "R18", "Run the fetch of Goal once, and keep its result", line: "// in each widget"),
        Flaw(
            "Fitness", "first", "R05", "Check with a limit of 1 whether any Pulse exists",
            line: "// whether there are any"),
        Flaw(
            "Fitness", "year", "R05", "Aggregate Exercise.energy in the store, not over its objects",
            line: "// the year's"),
    ]
}
