extension Flaw {
    /// The stock of four warehouses, at which several contexts work at a time.
    static let inventory = [
        stock(
            "deliveries", "R10", "Save Movement once, after all changes", line: "// saved for each delivery"),
        stock("journal", "R01", #"Prefetch "product" with the fetch of Movement"#, line: "// in the journal"),
        stock("empty", "R06", "Index Shelf by count", line: "// nearly empty"),
        stock(
            "stocktaking", "R11", "Do not refresh or reset Shelf objects while they are in use",
            line: "context.refreshAllObjects()"),
        stock(
            "counts", "R23", "Set values only where they differ from the current values",
            line: "// saved as it was"),
        stock(
            "labels", "R18", "Run the fetch of Warehouse once, and keep its result", line: "// looked up each time"),
        stock(
            "worth", "R05", "Aggregate Product.price in the store, not over its objects", line: "// added up"),
        Flaw(
            "Inventory", "till", "R13", "Give the save at … a context of its own",
            line: "// saved while the till waits",
            file: "Counter.swift"),
        Flaw(
            "Inventory", "archive", "R10", "Save Movement in parts of … objects", line: "// saved in one go",
            file: "Counter.swift"),
        Flaw(
            "Inventory", "turnover", "R12", "Fetch on a background context, or less at a time",
            line: "// on the main thread", file: "Counter.swift", thresholds: #"{"R12": {"longBlock": "1 ms"}}"#),
    ]

    private static func stock(_ scenario: String, _ rule: String, _ title: String, line: String) -> Flaw {
        Flaw("Inventory", scenario, rule, title, line: line, file: "Stock.swift")
    }
}
