internal import FaultlineFindings
public import FaultlineProfile
package import FaultlineTrace
public import Foundation

/// The registry of rules.
package enum Rules {
    /// All rules, by number.
    package static var all: [any Rule] { all(knowing: IndexExaminations()) }

    /// All rules, by number.
    ///
    /// - Parameter examinations: SQLite's answers about indexes for the statements of the trace.
    static func all(knowing examinations: IndexExaminations) -> [any Rule] {
        [
            PrefetchRule(), BatchSizeRule(), OverFetchRule(), FetchLoopRule(), AggregateRule(),
            MissingIndexRule(knowing: examinations),
            PredicateOrderRule(), TextSearchRule(knowing: examinations), LargeValueRule(), SaveSizeRule(),
            RefaultRule(),
            MainThreadRule(), WaitRule(), UnboundedFetchRule(), SparseTableRule(), FoldedEntityRule(),
            UnusedResultRule(), RepeatedFetchRule(), SortRule(knowing: examinations),
            UnusedPrefetchRule(), PreparationRule(), PlanRule(knowing: examinations),
            UnchangedWriteRule(), TraceQualityRule(), HeldObjectRule(), FailureRule(), StatementLoopRule(),
            SmallTransactionRule(), RepeatedStatementRule(), UnreadColumnRule(knowing: examinations),
            MigrationOnMainThreadRule(), NeedlessMappingRule(), OpenReadRule(),
        ]
    }
}

extension Detectors {
    /// The detectors of all rules and views.
    ///
    /// The wait detector precedes the save detector, which needs its findings about saves.
    static let all = Detectors([
        FaultDetector.self, LoopDetector.self, LookUpDetector.self, WaitDetector.self, SaveDetector.self,
        RepeatDetector.self, BlockDetector.self, RefaultDetector.self, HoldDetector.self, FiringDetector.self,
        SharedResultDetector.self, ResultSizeDetector.self, FailureDetector.self,
        StatementLoopDetector.self, SmallTransactionDetector.self, StatementScanDetector.self,
        StatementSampleDetector.self, StatementOriginDetector.self, OffsetDetector.self, WholeResultDetector.self,
        RepeatedStatementDetector.self,
        PreparationDetector.self, ColumnReadDetector.self, CPUDetector.self, AllocationDetector.self,
        ProgramMemoryDetector.self, MigrationDetector.self, OpenReadDetector.self, BatchRunDetector.self,
    ])
}

// The layers below know no rule, so what they need of all rules is handed to them here.

extension ProfileBuilder {
    /// Creates a builder with the detectors of all rules and the thresholds in force.
    public init() { self.init(thresholds: nil) }

    /// - Parameter thresholds: `nil` for those in force; see ``Thresholds/apply(_:)``.
    package init(thresholds: Thresholds?) { self.init(.all, thresholds: thresholds) }
}

extension Profile {
    /// Sums up a whole trace.
    ///
    /// - Parameter thresholds: The default is those in force.
    package init(_ messages: some Sequence<TraceMessage>, thresholds: Thresholds? = nil) {
        var builder = ProfileBuilder(thresholds: thresholds)
        for message in messages { builder.add(message) }
        self = builder.finish()
    }

    /// Reads a profile file.
    ///
    /// - Throws: ``ProfileFileError`` if the data is not a profile, is from a later version, or is damaged. Unknown
    ///   members are ignored.
    public init(fileData data: Data) throws(ProfileFileError) {
        try self.init(fileData: data, .all, among: { Thresholds.all })
    }

    /// The profile as a file, with a trailing line feed.
    ///
    /// The size depends on the shapes and lines of the programs: some kilobytes for each.
    ///
    /// The file of one recording has its findings, so that a sum tells in how many recordings each occurs.
    public func fileData() throws -> Data { try examined.fileData(among: Thresholds.all) }

    /// Merges the profile of another trace.
    ///
    /// The result does not depend on the order or grouping of merges. Its size depends on the programs, not on the
    /// number of traces.
    ///
    /// - Throws: ``ProfileMergeError`` if the profiles were made with different thresholds, and so with different
    ///   evidence. An empty profile can be merged with any other.
    package mutating func merge(_ other: Profile) throws(ProfileMergeError) {
        // An empty profile takes the other as it is.
        if recordingCount > 0 { self = examined }
        guard add(recordingCount > 0 ? other.examined : other) else {
            throw ProfileMergeError(differing: thresholds.differences(from: other.thresholds))
        }
    }
}

extension Thresholds {
    /// All thresholds, by rule.
    package static var all: [Threshold] { Rules.all.flatMap(\.thresholds) + Significance.thresholds }

    /// The rules and names of the thresholds that two settings have differently.
    func differences(from other: Thresholds) -> [String] {
        Self.all.filter { self[$0] != other[$0] }.map { "\($0.rule) \($0.name)" }
    }

    /// Reads a thresholds file.
    ///
    /// - Throws: ``BudgetError`` if the data is not JSON, has an unknown member, or has a value of the wrong type.
    ///   Without this error, a mistyped threshold would have no effect.
    package init(json data: Data) throws(BudgetError) {
        self.init()
        try BudgetError.reading(data) { file in
            let all = Self.all
            try file.expectMembers(all.map(\.rule).uniqued)
            for rule in try file.memberNames() {
                let known = all.filter { $0.rule == rule }
                try file.member(rule) { settings in
                    try settings.expectMembers(known.map(\.name))
                    for threshold in known {
                        try settings.member(threshold.name) { value in
                            if value != .none { self[threshold] = try value.amount(of: threshold.unit) }
                        }
                    }
                }
            }
        }
    }
}
