/// The registry of rules.
public enum Rules {
    /// All rules, by number.
    public static var all: [any Rule] {
        [
            PrefetchRule(), BatchSizeRule(), OverFetchRule(), FetchLoopRule(), AggregateRule(), MissingIndexRule(),
            PredicateOrderRule(), TextSearchRule(), LargeValueRule(), SaveSizeRule(), RefaultRule(),
            MainThreadRule(), WaitRule(), UnboundedFetchRule(), SparseTableRule(), FoldedEntityRule(),
            UnusedResultRule(), RepeatedFetchRule(), SortRule(), UnusedPrefetchRule(), PreparationRule(), PlanRule(),
            UnchangedWriteRule(), TraceQualityRule(), HeldObjectRule(), FailureRule(), StatementLoopRule(),
            SmallTransactionRule(), RepeatedStatementRule(), UnreadColumnRule(),
            MigrationOnMainThreadRule(), NeedlessMappingRule(),
        ]
    }
}
