extension Flaw {
    /// Bookings of rooms, on the main queue and beside it.
    static let bookings = [
        Flaw(
            "Bookings", "available", "R04", "Count Booking for all values of room at once, in one grouped fetch",
            line: "// one room", file: "Bookings.swift"),
        Flaw(
            "Bookings", "overlaps", "R06", "Index Booking by start", line: "// in the same days",
            file: "Bookings.swift"),
        Flaw(
            "Bookings", "latest", "R19", "Index Booking by createdAt to avoid the sort",
            line: "// booked last", file: "Bookings.swift"),
        Flaw(
            "Bookings", "arrivals", "R18", "Run the fetch of Booking once, and keep its result",
            line: "// today's", file: "Bookings.swift", others: ["R03", "R06"]),
    ]
}
