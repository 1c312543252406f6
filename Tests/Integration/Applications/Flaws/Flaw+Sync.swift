extension Flaw {
    /// An engine that keeps records in step with a server.
    static let sync = [
        Flaw(
            "Sync", "pull", "R04", "Fetch Record for all values of remoteID at once, with IN",
            line: "// by the server's identifier"),
        Flaw("Sync", "insert", "R10", "Insert the rows of Record with one batch request", line: "// one row"),
        Flaw("Sync", "push", "R10", "Save Record once, after all changes", line: "// once it is sent"),
        Flaw("Sync", "cursor", "R18", "Run the fetch of Account once, and keep its result", line: "// how far it is"),
        Flaw(
            "Sync", "unchanged", "R23", "Set values only where they differ from the current values",
            line: "// as the server has it"),
        Flaw("Sync", "conflicts", "R26", "Resolve the conflicts of these saves", line: "// edited here and there"),
    ]
}
