extension Flaw {
    /// Entries of accounts, month by month.
    static let ledger = [
        Flaw(
            "Ledger", "total", "R05", "Aggregate Entry.cents in the store, not over its objects", line: "// added up"),
        Flaw(
            "Ledger", "balances", "R04", "Aggregate Entry for all values of account at once, in one grouped fetch",
            line: "// one account's"),
        Flaw("Ledger", "purge", "R10", "Delete Entry with a batch request", line: "// to be deleted"),
        Flaw("Ledger", "purgeByPage", "R10", "Delete Entry with a batch request", line: "// a page to be deleted"),
        Flaw("Ledger", "close", "R10", "Set Entry.isClosed with a batch request", line: "// to be closed"),
        Flaw("Ledger", "remind", "R10", "Save Reminder once, after all changes", line: "// one reminder"),
        Flaw("Ledger", "correct", "R26", "Resolve the conflicts of these saves", line: "// one correction"),
        Flaw(
            "Ledger", "statement", "R26", "Stop reading Entry objects whose rows were deleted",
            line: "// as if it were there"),
    ]
}
