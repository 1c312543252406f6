extension Flaw {
    /// The timetable of a town's buses.
    static let timetable = [
        Flaw(
            "Timetable", "served", "R04", "Fetch the calls of Journey for all values at once, with IN",
            line: "// late at a stop"),
        Flaw(
            "Timetable", "hours", "R04", "Count Call once for all ranges of minute, in one grouped fetch",
            line: "// in one hour",
            others: ["R06"]),
        Flaw(
            "Timetable", "nearest", "R03",
            "Choose the rows of Stop by east and north in the request, not in the program", line: "// around here"),
    ]
}
